"""Say which signers a person accepts: [trust] of the home's config.toml, and of a registry's registry.toml.

    [trust]
    roots = ["~/keys/nv-agent-root-cert.pem"]     # certificates and public keys, as PEM
    allowed_signers = ["~/.ssh/allowed_signers"]  # SSH keys, as ssh-keygen reads them
    require = "signed"                            # every skill that comes in

    [[trust.source]]                              # in a registry: [[trust.prefix]]
    name = "NVIDIA/skills"
    signers = ["NVIDIA Agent Skills Signing 001"] # or fingerprints: "SHA256:…"
    require = "signed"

A table that can't be read stops what asks for it: a misspelled rule must not be no rule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from skillc import paths
from skillc.errors import InvalidConfiguration, SignatureBroken, SignerRefused
from skillc.origins.signature import BROKEN, GIT, NONE, NOT_SAFE, REGISTRY, UNCHECKED, VALID, Signature
from skillc.settings import MAX_FILE, parse_toml
from skillc.surface import Person
from skillc.text import one_line
from skillc.toml import Table

SIGNED = "signed"
MAX_RULES = 1000
OPTION = "--accept-signer"
_ASK = "hint: ask its author for files as they were signed; nothing of it came in"
_NAME = "hint: if you trust the signer, name its key or root in [trust]; docs/origins.md says how"
_HOST = re.compile(r"^(?:[^/@]*@)?([^/:]+\.[^/:]+)(?::\d+/+|[:/]+)")  # github.com:acme/skills, too


@dataclass(frozen=True, slots=True)
class Rule:
    """What is accepted of one source, or below one prefix of a registry."""

    name: str
    signers: tuple[str, ...] = ()
    is_required: bool = False

    def covers(self, source: str) -> bool:
        """Return whether a source has the name, or is below it, however it is written."""
        source, name = _plain(source), _plain(self.name)
        names = (source, source.removeprefix("github.com/"))
        return any(each == name or each.startswith(f"{name}/") for each in names)


@dataclass(frozen=True, slots=True)
class Trust:
    """The signers that are known, and what is asked of a source."""

    roots: tuple[str, ...] = ()
    allowed_signers: tuple[str, ...] = ()
    is_required: bool = False
    rules: tuple[Rule, ...] = ()

    def rule_for(self, sources: Iterable[str]) -> Rule:
        """Return the rule with the longest name that covers one of these names of a source."""
        names = [*sources]
        rules = [rule for rule in self.rules if any(map(rule.covers, names))]
        return max(rules, key=lambda rule: len(rule.name), default=Rule(""))


def read_trust() -> Trust:
    """Return [trust] of the home's config.toml; raises InvalidConfiguration for one that can't be used."""
    home = paths.home()
    if not home:
        return Trust()
    path = paths.config_file(home)
    try:
        content = parse_toml(paths.read_regular(path, MAX_FILE).decode())
        return parse_trust(Table(content).table("trust"), os.path.dirname(path), "source")
    except FileNotFoundError:
        return Trust()
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidConfiguration(path, f"{getattr(error, 'strerror', None) or error}") from None


def parse_trust(table: Table, folder: str, kind: str) -> Trust:
    """Return what a table [trust] says, of a file in a folder; its rules are in tables [[trust.<kind>]].

    A fault is a ValueError.
    """
    roots, allowed_signers = (
        tuple(os.path.join(folder, os.path.expanduser(name)) for name in table.texts(key))
        for key in ("roots", "allowed_signers")
    )
    rules = tuple(_parse_rule(each) for each in table.tables(kind, MAX_RULES))
    trust = Trust(roots, allowed_signers, _is_required(table), rules)
    table.finish()
    return trust


def _parse_rule(table: Table) -> Rule:
    rule = Rule(table.text("name").rstrip("/"), table.texts("signers"), _is_required(table))
    if not rule.name:
        raise table.fault("name", 'it is a source or a prefix, such as "acme/skills"')
    if "" in rule.signers:
        raise table.fault("signers", "none is an empty text")
    table.finish()
    return rule


def _is_required(table: Table) -> bool:
    text = table.text("require")
    if text not in ("", SIGNED):
        raise table.fault("require", f'it is "{SIGNED}", or is left out')
    return text == SIGNED


def _plain(source: str) -> str:
    """Return a source in one form: without scheme, user, port and `.git`, in lower case."""
    place = _HOST.sub(r"\1/", source.rpartition("://")[2])
    return place.rstrip("/").removesuffix(".git").casefold()


def require_signer(skill: str, sources: Iterable[str], signature: Signature, trust: Trust) -> None:
    """Raise SignatureBroken (E085), or SignerRefused (E086) for a signer whom [trust] does not accept."""
    if signature.state == BROKEN:
        raise SignatureBroken(skill, signature.reason, _ASK)
    rule = trust.rule_for(sources)
    if not (rule.signers or rule.is_required or trust.is_required):
        return
    if signature.state != VALID:
        reason = "it is not signed" if signature.state == NONE else f"it is {signature.line()}"
        raise SignerRefused(skill, f"{reason}, and [trust] asks for a signer that is known", _NAME)
    # A registry says itself what it is called, so that only its key counts.
    names = {signature.key} if signature.kind == REGISTRY else {signature.key, signature.signer}
    if rule.signers and not names.intersection(rule.signers):
        known = " or ".join(rule.signers)
        reason = f"it is {signature.line()}, and [trust] accepts {known} for '{rule.name}'"
        raise SignerRefused(skill, reason, _NAME)


def require_same(
    skill: str, pin: Signature | None, signature: Signature, person: Person, *, accept: bool = False
) -> None:
    """Ask a person whether another signer than before will do; raises SignerRefused where it won't."""
    change = describe_change(pin, signature)
    if not change or accept:
        return
    text = one_line(f"'{skill}': {change}. {NOT_SAFE}")
    if person.can_answer and person.confirm(text, "Take it all the same?"):
        return
    raise SignerRefused(skill, change, f"hint: ask its author why; {OPTION} takes it")


def describe_change(pin: Signature | None, signature: Signature, *, is_locked: bool = False) -> str:
    """Say how the signer of a skill changes; nothing where it is the same, or there was none.

    A certificate that expired is a change of what comes in, and none of files that are locked: its signer
    signed those in time. Nor is it one that git here has no key, because no lock can bring that.
    """
    if pin is None or (is_locked and pin.kind == GIT and signature.state == UNCHECKED):
        return ""
    is_same = signature.is_by(pin)
    if is_same and (is_locked or pin.is_expired or not signature.is_expired):
        return ""
    now = f"now by {signature.who}" if signature.is_signed and not is_same else f"is now {signature.line()}"
    return f"it was signed by {pin.who}, and {now}"
