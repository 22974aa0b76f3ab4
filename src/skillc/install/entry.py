"""An entry of the lock file: a skill, where it came from, and the hashes of what exactly was installed.

One of them is the npm package's own, `computedHash`: a SHA-256 over the path and the bytes of one file after
the other, in the order of JavaScript's `localeCompare` of the paths. Dot-files count; links, `.git` and
`node_modules` do not. Other files can have the same: what is installed is compared by its digest [D64].
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc import records
from skillc.collation import sort_names
from skillc.skills import SkillDigest, digest_files, digest_skill
from skillc.startup import MUCH, new_sha256

if TYPE_CHECKING:
    from skillc.audit import Audit
    from skillc.install.origin import Candidate, Origin
    from skillc.origins import Signature

Fields = dict[str, Any]


OWN = "skillc"  # the key in each entry that is ours
VERSION = 1  # of what is under it
CONTENT = "contentDigest"  # our key for the digest of every installed file [D64]
LINK, COPY = "link", "copy"  # how a skill is deployed
LEFT_OUT = (".git", "node_modules")  # of `computedHash`
# The npm package's own keys, in its order.
KEYS = ("source", "sourceUrl", "ref", "sourceType", "skillPath", "computedHash", "wellKnownDigest")


@dataclass(frozen=True, slots=True)
class LockEntry:
    """A skill in a lock: its name and its fields as they stand in the file."""

    name: str
    fields: Fields

    def text(self, key: str) -> str:
        """Return a field; an empty text where it is missing or something else."""
        return text if isinstance(text := self.fields.get(key), str) else ""

    def own_text(self, key: str) -> str:
        """Return a field of ours."""
        return text if isinstance(text := self.own.get(key), str) else ""

    @property
    def own(self) -> Fields:
        """What skc itself noted; empty where another tool wrote the entry, a newer skc, or it is damaged."""
        own = self.fields.get(OWN)
        if not isinstance(own, dict) or own.get("v") != VERSION or self.is_damaged:
            return {}
        return own

    @property
    def is_damaged(self) -> bool:
        """Whether our part is not as skc wrote it; one from before it had a digest inside is accepted."""
        own = self.fields.get(OWN)
        if not isinstance(own, dict) or not (records.DIGEST in own or CONTENT in own):
            return False
        return not records.is_sealed(own)

    @property
    def is_complete(self) -> bool:
        """Whether ours says what exactly was installed."""
        return bool(self.content)

    @property
    def content(self) -> str:
        """The digest of every installed file [D64], in hexadecimal; empty in a lock from before."""
        return self.own_text(CONTENT).removeprefix("sha256:")

    @property
    def executables(self) -> list[str]:
        """The executable files, for file systems without modes."""
        return self._own_texts("executables")

    @property
    def hash(self) -> str:
        """The `computedHash` of the folder that the skill came from."""
        return self.text("computedHash")

    @property
    def commit(self) -> str:
        return self.own_text("commit")

    @property
    def digest(self) -> str:
        """The source hash of the skill [D3], in hexadecimal."""
        return self.own_text("digest").removeprefix("sha256:")

    @property
    def version_name(self) -> str:
        """The version that is installed, as people name it: its number, else its ref, or what tells it."""
        return self.own_text("version") or self.text("ref") or self.commit[:12] or self.hash[:12]

    @property
    def names(self) -> tuple[str, str]:
        """What rules about sources may call the origin."""
        return self.text("source"), self.text("sourceUrl") or self.own_text("resolved")

    @property
    def signer(self) -> Signature | None:
        """The signer of the skill when it came in; None where nothing was signed."""
        from skillc.origins import read_pin  # few skills are signed

        return read_pin(self.own.get("signer"))

    @property
    def is_pinned(self) -> bool:
        return self.own.get("pinned") is True

    @property
    def targets(self) -> list[str]:
        """The agents that have the skill. A lock from before may also name paths [D63]."""
        return self._own_texts("targets")

    @property
    def required_by(self) -> list[str]:
        """The skills that it was brought along for."""
        return self._own_texts("requiredBy")

    @property
    def requires(self) -> list[str]:
        """The skills that the plugin needs which it came with: no file of its own says so."""
        return self._own_texts("requires")

    @property
    def has_targets(self) -> bool:
        """Whether it is known which agents have the skill; not if another tool wrote the entry."""
        return "targets" in self.own

    def _own_texts(self, key: str) -> list[str]:
        texts = self.own.get(key)
        return [each for each in texts if isinstance(each, str)] if isinstance(texts, list) else []

    def with_own(self, **content: object) -> LockEntry:
        """Return the same entry with other values of ours; an empty one is left out."""
        return LockEntry(self.name, {**self.fields, OWN: _seal({"v": VERSION, **self.own, **content})})

    def sealed(self) -> LockEntry:
        """Return the same entry with the digest of our part as it is now: a person looked at it."""
        own = self.fields.get(OWN)
        return LockEntry(self.name, {**self.fields, OWN: _seal(own)}) if isinstance(own, dict) else self

    def is_about(self, folder: str, links: Collection[str] = ()) -> bool:
        """Return whether a folder that was downloaded has the files that are locked [D64].

        `links` are as for `compute_hash`, which is what a lock from before has to tell it by.
        """
        if self.content:
            return digest_skill(folder, executables=self.executables).digest == self.content
        return compute_hash(folder, links) == self.hash

    @property
    def installed_hash(self) -> str:
        """The `computedHash` of the installed folder: another one where links became files, before [D64]."""
        return self.own_text("installed") or self.hash

    def origin(self, base: str, hosts: Iterable[str] = ()) -> Origin:
        """Return where the skill comes from; a local path is relative to `base`, the folder of the lock.

        Of other hosts than its own, `hosts` may be asked, and the one that it really came from.
        """
        from skillc.install.address import recall_origin

        return recall_origin(self.fields, base, self.own_text("resolved"), hosts)


@dataclass(frozen=True, slots=True)
class FolderHashes:
    """A folder's `computedHash`, its source hash [D3], and the digest of every file [D64]."""

    computed: str
    source: str
    content: SkillDigest


def make_entry(
    base: str,
    candidate: Candidate,
    hashes: FolderHashes,
    *,
    last: LockEntry | None = None,
    targets: Iterable[str] | None = None,
    mode: str = "",
    audit: Audit | None = None,
    signature: Signature | None = None,
    required_by: Iterable[str] = (),
) -> LockEntry:
    """Return the entry of a skill that was downloaded, whose folder has these hashes.

    `base` is the folder of the lock. Name and pin are those of the `last` entry, if there was one, and so are
    agents and mode where none are given. Addresses are noted without credentials.
    """
    origin = candidate.origin
    if targets is None and last is not None and last.has_targets:
        targets = last.targets
    signer = signature or (last.signer if last else None)
    ours = {
        "v": VERSION,
        "commit": candidate.download.commit,
        "tree": candidate.tree,
        "digest": f"sha256:{hashes.source}",
        CONTENT: f"sha256:{hashes.content.digest}",
        "executables": hashes.content.executables or "",
        "version": candidate.version,
        "resolved": "" if origin.type == "local" else without_credentials(candidate.address),
        "targets": "" if targets is None else sorted(targets),
        "mode": mode or (last.own_text("mode") if last else "") or LINK,
        "pinned": last is not None and last.is_pinned,
        "audit": _describe_audit(audit) if audit else {},
        "signer": signer.pin() if signer else {},
        "requires": [*candidate.requires] or "",
        "requiredBy": sorted({*required_by, *(last.required_by if last else ())}) or "",
    }
    theirs = describe_origin(base, candidate) | {"computedHash": hashes.computed}
    fields = {key: theirs[key] for key in KEYS if theirs.get(key)}
    return LockEntry(last.name if last else candidate.name, {**fields, OWN: _seal(ours)})


def _describe_audit(audit: Audit) -> Fields:
    from skillc.audit import VERSION  # an 'install' that has nothing to do needs none

    return {"rules": VERSION, "asks": audit.asks_digest()}


def describe_origin(base: str, candidate: Candidate) -> dict[str, str]:
    """Return where a skill comes from, in the npm package's own fields."""
    origin = candidate.origin
    is_local = origin.type == "local"
    has_url = origin.type not in ("github", "local")
    return {
        "source": _portable(origin.source, base) if is_local else without_credentials(origin.source),
        "sourceUrl": without_credentials(origin.url) if has_url else "",
        "ref": origin.ref,
        "sourceType": origin.type,
        "skillPath": "" if is_local else candidate.path,
        "wellKnownDigest": candidate.digest,
    }


def _seal(own: Mapping[str, object]) -> Fields:
    """Return our part of an entry with the digest of its own content; what is empty is left out."""
    kept = {key: content for key, content in own.items() if content != "" and content != {}}
    version = {"v": kept.pop("v")} if "v" in kept else {}
    return {**version, **records.seal(version | kept)}


def without_credentials(address: str) -> str:
    """Return an address without a password or a token in it; the user of an SSH address stays.

    >>> without_credentials("https://me:secret@example.com/skills.git?token=x")
    'https://example.com/skills.git?token=***'
    """
    from skillc.remotes.http import hide_secrets  # imports logging

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


def hash_folder(
    folder: str, links: Collection[str] = (), executables: Collection[str] | None = None
) -> FolderHashes:
    """Return all hashes of a folder; raises PathEscapes for a link that leads out of it.

    `links` are as for `compute_hash`, `executables` as for `digest_skill`.
    """
    content = digest_skill(folder, executables=executables or None)
    return FolderHashes(compute_hash(folder, links), digest_files(folder), content)


def compute_hash(folder: str, links: Collection[str] = ()) -> str:
    """Return the `computedHash` of a skill's folder; `links` are names that were links where it came from."""
    names = {name: path for name, path in _walk_files(folder) if not _is_below(name, links)}
    whole = new_sha256(MUCH)
    for name in sort_names(names):
        whole.update(name.encode("utf-8", "replace"))
        with open(names[name], "rb") as file:
            while piece := file.read(MUCH):
                whole.update(piece)
    return whole.hexdigest()


def _walk_files(folder: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield name and path of each file that counts for `computedHash`; names have forward slashes."""
    with os.scandir(folder) as entries:
        children = sorted(entries, key=lambda entry: entry.name)
    for entry in children:
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in LEFT_OUT:
                yield from _walk_files(entry.path, f"{prefix}{entry.name}/")
        elif entry.is_file(follow_symlinks=False):
            yield prefix + entry.name, entry.path


def _is_below(name: str, links: Collection[str]) -> bool:
    words = name.split("/") if links else []
    return any("/".join(words[: count + 1]) in links for count in range(len(words)))
