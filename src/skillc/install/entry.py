"""An entry of the lock file: a skill, where it came from, and what exactly was installed."""

from __future__ import annotations

import os

from skillc.startup import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from skillc.install.origin import Candidate, Download, Origin

    Fields = dict[str, Any]

OWN = "skillc"  # the key in each entry that is ours
VERSION = 1  # of what is under it
LINK, COPY = "link", "copy"  # how a skill is deployed
# The npm package's own keys, in its order.
KEYS = ("source", "sourceUrl", "ref", "sourceType", "skillPath", "computedHash", "wellKnownDigest")


@value
class LockEntry:
    """A skill in a lock: its name and its fields as they stand in the file."""

    name: str
    fields: Fields

    def text(self, key: str) -> str:
        """Return a field; an empty text where it is missing or something else."""
        return _text(self.fields.get(key))

    def own_text(self, key: str) -> str:
        """Return a field of ours."""
        return _text(self.own.get(key))

    @property
    def own(self) -> Fields:
        """What skc itself noted; empty where another tool wrote the entry, or a newer skc."""
        own = self.fields.get(OWN)
        return own if isinstance(own, dict) and own.get("v") == VERSION else {}

    @property
    def is_complete(self) -> bool:
        """Whether ours says what exactly was installed."""
        return bool(self.digest)

    @property
    def hash(self) -> str:
        """The `computedHash` of the folder that the skill came from."""
        return self.text("computedHash")

    @property
    def store_hash(self) -> str:
        """The `computedHash` of the folder in the store: another one where links became files."""
        return self.own_text("installed") or self.hash

    @property
    def commit(self) -> str:
        return self.own_text("commit")

    @property
    def digest(self) -> str:
        """The source hash of the skill [D3], in hexadecimal."""
        return self.own_text("digest").removeprefix("sha256:")

    @property
    def is_pinned(self) -> bool:
        return self.own.get("pinned") is True

    @property
    def targets(self) -> list[str]:
        targets = self.own.get("targets")
        return [each for each in targets if isinstance(each, str)] if isinstance(targets, list) else []

    def with_own(self, **content: object) -> LockEntry:
        """Return the same entry with other values of ours; an empty one is left out."""
        own = {k: v for k, v in {"v": VERSION, **self.own, **content}.items() if v != "" and v != {}}
        return LockEntry(self.name, {**self.fields, OWN: own})

    def with_store_hash(self, digest: str) -> LockEntry:
        """Return the same entry for a folder in the store that has this `computedHash`."""
        return self.with_own(installed="" if digest == self.hash else digest)

    def origin(self, base: str, hosts: Iterable[str] = ()) -> Origin:
        """Return where the skill comes from; a local path is relative to `base`, the folder of the lock.

        Of other hosts than its own, `hosts` may be asked, and the one that it really came from.
        """
        from skillc.install.origin import recall_origin  # an 'install' that has nothing to do needs none

        return recall_origin(self.fields, base, self.own_text("resolved"), hosts)


def make_entry(
    base: str,
    origin: Origin,
    candidate: Candidate,
    download: Download,
    *,
    computed_hash: str,
    store_hash: str = "",
    digest: str,
    targets: Iterable[str] = (),
    mode: str = LINK,
    has_pin: bool = False,
    audit: Mapping[str, object] | None = None,
) -> LockEntry:
    """Return the entry of a skill that was downloaded.

    `base` is the folder of the lock. `computed_hash` is that of the folder in the download, `store_hash` that
    of the one in the store, and `digest` the skill's source hash. Addresses are noted without credentials.
    """
    is_local = origin.type == "local"
    has_url = origin.type not in ("github", "local")
    theirs = {
        "source": _portable(origin.source, base) if is_local else without_credentials(origin.source),
        "sourceUrl": without_credentials(origin.url) if has_url else "",
        "ref": origin.ref,
        "sourceType": origin.type,
        "skillPath": "" if is_local else candidate.path,
        "computedHash": computed_hash,
        "wellKnownDigest": candidate.digest,
    }
    ours = {
        "v": VERSION,
        "commit": download.commit,
        "tree": candidate.tree,
        "digest": f"sha256:{digest}",
        "installed": store_hash if store_hash != computed_hash else "",
        "version": candidate.version,
        "resolved": "" if is_local else without_credentials(download.address_of(candidate)),
        "targets": sorted(targets),
        "mode": mode,
        "pinned": has_pin,
        "audit": dict(audit or {}),
    }
    own = {key: content for key, content in ours.items() if content != "" and content != {}}
    fields = {key: content for key, content in theirs.items() if content}
    return LockEntry(candidate.name, {**fields, OWN: own})


def without_credentials(address: str) -> str:
    """Return an address without a password or a token in it; the user of an SSH address stays.

    >>> without_credentials("https://me:secret@example.com/skills.git?token=x")
    'https://example.com/skills.git?token=***'
    """
    from skillc.library import hide_secrets  # imports logging

    scheme, separator, rest = address.partition("://")
    if not separator:
        return address
    host, slash, path = rest.partition("/")
    user, at, host = host.rpartition("@")
    login = user.partition(":")[0] + at if scheme.lower() not in ("http", "https") else ""
    scheme_and_host = f"{scheme}://{login}{host}"
    return scheme_and_host + hide_secrets(slash + path)


def _portable(source: str, base: str) -> str:
    """Return a folder as the npm package notes it: relative to the lock, with forward slashes."""
    if os.path.splitdrive(source)[0].lower() != os.path.splitdrive(os.path.abspath(base))[0].lower():
        return source.replace(os.sep, "/")
    relative = os.path.relpath(os.path.join(base, source), base).replace(os.sep, "/")
    return relative if relative in (".", "..") or relative.startswith("../") else f"./{relative}"


def _text(content: object) -> str:
    return content if isinstance(content, str) else ""
