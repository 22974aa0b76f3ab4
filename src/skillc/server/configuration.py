"""Read registry.toml: how people sign in, which CI may publish, policies, reviews and mirrors.

[oidc]
issuer = "https://login.example.com"
client_id = "skillc"

[publishing]
audience = "skills"                 # of the ID tokens of CI

[policy]
minimum_age = "3d"                  # versions that are younger are hidden
allow = ["payments", "community"]   # prefixes; without this line, all
deny = ["payments/legacy"]
audited = "note"                    # the worst level of findings that is let through; true is "note"

[review]
prefixes = ["payments"]             # what publishers publish there waits for a maintainer
findings = "review"                 # so does what an audit finds, from this level on

[[mirror]]
prefix = "community"
url = "https://skills.example.org"  # another registry
[[mirror]]
prefix = "vendor"
git = "https://git.example.org/acme/skills.git"
branch = "main"                     # or tag, or commit
folder = "skills"

What the file has that is not known here is refused: a misspelled limit must not be no limit.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from skillc.audit import LEVELS
from skillc.errors import InvalidConfiguration, SkillcError
from skillc.origins import parse_trust
from skillc.paths import read_regular
from skillc.registry import MirrorConfig, Policies, RegistryConfig, ReviewRules, Role
from skillc.registry.model import is_below
from skillc.remotes.git import GitRef
from skillc.server.settings import (
    GITHUB,
    GITLAB,
    OidcSettings,
    PublishingSettings,
    ServerSettings,
    SignInSettings,
    parse_issuer,
)
from skillc.skills import SkillId
from skillc.toml import Table

T = TypeVar("T")

SECRET = "SKILLC_OIDC_SECRET"  # noqa: S105 -- the variable that holds it
MAX_FILE = 1 << 20  # bytes
MAX_DAYS = 3650
MAX_PREFIXES = 1000  # of one list
MAX_MIRRORS = 50

_AGE = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_REFS: dict[str, Callable[[str], GitRef]] = {
    "branch": GitRef.branch,
    "tag": GitRef.tag,
    "commit": GitRef.commit,
}


def read_configuration(path: str) -> tuple[RegistryConfig, ServerSettings]:
    """Return what a registry.toml says, or what holds without a path; raises InvalidConfiguration."""
    if not path:
        return RegistryConfig(), ServerSettings()
    with _open(path) as root:
        config = RegistryConfig(
            _read_policies(root.table("policy")),
            _read_review(root.table("review")),
            _read_mirrors(root.tables("mirror", MAX_MIRRORS)),
        )
        oidc = _read_oidc(root.table("oidc")) if "oidc" in root else None
        sign_in = SignInSettings(oidc, _read_publishing(root.table("publishing")))
        trust = parse_trust(root.table("trust"), os.path.dirname(path), "prefix")
        attestation = root.table("attestation")
        keys = [os.path.join(os.path.dirname(path), os.path.expanduser(k)) for k in attestation.texts("keys")]
        attestation.finish()
        return config, ServerSettings(sign_in=sign_in, trust=trust, keys=tuple(keys))


@contextmanager
def _open(path: str) -> Iterator[_Table]:
    """Give what a registry.toml has; what is left at the end is unknown.

    A fault, also one that is found in the block, raises InvalidConfiguration.
    """
    try:
        root = _Table(tomllib.loads(read_regular(path, MAX_FILE).decode()))
        yield root
        root.finish()
    except OSError as error:
        raise InvalidConfiguration(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise InvalidConfiguration(path, str(error).partition("\n")[0] or "it is nested too deeply") from None


class _Table(Table):
    """A table of registry.toml."""

    def convert(self, key: str, text: str, parse: Callable[[str], T]) -> T:
        """Return what a function makes of a text; its error is a fault of the setting."""
        try:
            return parse(text)
        except SkillcError as error:
            raise self.fault(key, error.message) from None

    def prefixes(self, key: str) -> tuple[str, ...]:
        values = self.texts(key)
        if len(values) > MAX_PREFIXES or "" in values:
            raise self.fault(key, f'it is a list of at most {MAX_PREFIXES} prefixes such as "payments"')
        return tuple(self.convert(key, value, SkillId) for value in values)

    def level(self, key: str, value: object) -> str:
        if value not in LEVELS:
            raise self.fault(key, f"it is one of {', '.join(LEVELS)}")
        return str(value)


def _read_policies(table: _Table) -> Policies:
    audited = table.take("audited", False, bool, str)
    policies = Policies(
        _read_age(table),
        table.prefixes("allow"),
        table.prefixes("deny"),
        table.level("audited", "note" if audited is True else audited) if audited else "",
    )
    table.finish()
    return policies


def _read_age(table: _Table) -> timedelta:
    text = table.text("minimum_age")
    if not text:
        return timedelta(0)
    match = _AGE.fullmatch(text)
    age = timedelta(**{_UNITS[match[2]]: int(match[1])}) if match else timedelta.max
    if age > timedelta(days=MAX_DAYS):
        raise table.fault("minimum_age", f'it is such as "3d", "12h" or "30m", and at most {MAX_DAYS} days')
    return age


def _read_review(table: _Table) -> ReviewRules:
    findings = table.text("findings")
    rules = ReviewRules(table.prefixes("prefixes"), table.level("findings", findings) if findings else "")
    table.finish()
    return rules


def _read_mirrors(tables: Iterable[_Table]) -> tuple[MirrorConfig, ...]:
    mirrors = tuple(map(_read_mirror, tables))
    prefixes = [mirror.prefix for mirror in mirrors]
    for prefix in prefixes:
        if sum(is_below(prefix, other) for other in prefixes) > 1:
            raise ValueError(f"[[mirror]] prefix: '{prefix}' is mirrored twice")
    return mirrors


def _read_mirror(table: _Table) -> MirrorConfig:
    texts = {key: table.text(key) for key in ("prefix", "url", "git", "folder", *_REFS)}
    if not texts["prefix"]:
        raise table.fault("prefix", 'it says below which prefix the skills are, such as "community"')
    if bool(texts["url"]) == bool(texts["git"]):
        raise table.fault("url", "it has either 'url', of a registry, or 'git', of a repository")
    refs = [key for key in _REFS if texts[key]]
    if len(refs) > 1 or (texts["url"] and (refs or texts["folder"])):
        raise table.fault(
            refs[0] if refs else "folder", "it has one branch, tag or commit, and of 'git' alone"
        )
    table.finish()
    prefix = table.convert("prefix", texts["prefix"], SkillId)
    try:
        ref = _REFS[refs[0]](texts[refs[0]]) if refs else GitRef()
        mirror = MirrorConfig(prefix, texts["url"], texts["git"], ref, texts["folder"])
        mirror.open()  # which checks the address, and asks nothing
    except SkillcError as error:
        raise table.fault("url" if texts["url"] else "git", error.message) from None
    return mirror


def _read_oidc(table: _Table) -> OidcSettings:
    issuer, client_id = table.text("issuer"), table.text("client_id")
    for key, text in (("issuer", issuer), ("client_id", client_id)):
        if not text:
            raise table.fault(key, "it is missing")
    role, prefix = table.text("default_role"), table.text("default_prefix")
    settings = OidcSettings(
        table.convert("issuer", issuer, parse_issuer),
        client_id,
        # Taken out of the environment: processes that we start don't need it.
        os.environ.pop(table.text("client_secret_env") or SECRET, ""),
        table.text("subject", "email"),
        table.text("groups", "groups"),
        table.texts("scopes", ("openid", "email", "profile")),
        tuple(domain.lower().lstrip("@") for domain in table.texts("allowed_domains")),
        table.texts("allowed_groups"),
        table.take("require_verified_email", True, bool),
        table.convert("default_role", role, Role.parse) if role else None,
        table.convert("default_prefix", prefix, SkillId) if prefix else "",
    )
    if "openid" not in settings.scopes:
        raise table.fault("scopes", "'openid' is one of them")
    table.finish()
    return settings


def _read_publishing(table: _Table) -> PublishingSettings:
    def issuers(key: str, default: str) -> tuple[str, ...]:
        return tuple(table.convert(key, url, parse_issuer) for url in table.texts(key, (default,)))

    settings = PublishingSettings(
        issuers("github", GITHUB), issuers("gitlab", GITLAB), table.text("audience")
    )
    table.finish()
    return settings
