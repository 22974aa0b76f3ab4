"""How long an agent's listing may be: by its rule, and by the agent's own settings, which can raise it.

Claude Code has `skillListingBudgetFraction` in its settings.json. A number that is put there is put back by
`restore_share`, and every other byte of the file stays.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillc.errors import SkillcError
from skillc.jsonc import cut_value, find_value, parse_settings, put_value
from skillc.library.records import change_listing_record, read_listing_record
from skillc.listing.rules import Rule
from skillc.shared_files import read_file, read_text, rewrite_file
from skillc.startup import sha256_hex

PLACES = 6  # of a share: a token more or less in a window of a million
SETTINGS = "settings"  # what agents' own files had before, in the record of listings


@dataclass(frozen=True, slots=True)
class NewShare:
    """A share of the window to be put into an agent's settings; None for what it had before."""

    rule: Rule
    share: float | None

    @property
    def what(self) -> str:
        file, key = self.rule.settings[0], self.rule.setting
        if self.share is None:
            return f"'{key}' in ~/{file} is put back as it was"
        return f"'{key}' in ~/{file} becomes {self.share:g}"

    def limit(self, window: int) -> int | None:
        """Return how many characters a listing may have once this is written."""
        old = (_entry(self.rule) or {}).get("old")
        return self.rule.characters(window, self.share or old)

    def write(self) -> None:
        """Write the setting; raise SkillcError where that can't be done."""
        if self.share is None:
            restore_share(self.rule)
        else:
            _put_share(self.rule, self.share)


def find_limit(rule: Rule, window: int, cwd: str = "") -> int | None:
    """Return how many characters a listing may have here; None for an agent that lists all."""
    own = os.environ.get(rule.variable, "") if rule.variable else ""
    if own.isascii() and own.isdigit() and int(own[:9]):
        return int(own[:9])
    share = next(filter(None, (_read_share(rule, path) for path in rule.settings_files(cwd))), None)
    return rule.characters(window, share)


def plan_share(rule: Rule, tokens: int, window: int) -> NewShare | None:
    """Return what a budget of tokens changes in an agent's settings; None where nothing changes."""
    if not rule.setting or os.environ.get(rule.variable):
        return None
    (path,) = rule.settings_files()
    now, entry = _read_share(rule, path), _entry(rule)
    is_ours = entry is not None and now == entry["share"]
    old = (entry["old"] if entry and is_ours else now) or rule.share
    share = min(1.0, math.ceil(tokens / window * 10**PLACES) / 10**PLACES)
    if share <= old:
        return NewShare(rule, None) if is_ours else None
    return NewShare(rule, share) if share != now else None


def restore_share(rule: Rule) -> bool:
    """Put back what an agent's settings had before skc changed them, unless they were changed since."""
    entry = _entry(rule)
    if entry is None:
        return False
    path, key = entry["path"], rule.setting

    def restore(text: str) -> str | None:
        if sha256_hex(text.encode()) == entry.get("after"):
            return None if entry["is_new"] else str(entry["before"])
        if find_value(_parse(text, rule, path), (key,)) != entry["share"]:
            return text  # someone else's now
        return cut_value(text, (key,)) if entry["old"] is None else put_value(text, (key,), entry["old"])

    if read_file(path) is not None:
        rewrite_file(path, restore)
    change_listing_record(lambda record: record.table(SETTINGS).pop(rule.agent, None))
    return True


def _put_share(rule: Rule, share: float) -> None:
    (path,) = rule.settings_files()

    def put(text: str) -> str:
        _parse(text, rule, path)
        try:
            return put_value(text, (rule.setting,), share)
        except (ValueError, IndexError) as error:
            raise _unreadable(rule, path, error) from None

    first = _entry(rule)
    before, after = rewrite_file(path, put)
    old = find_value(_parse(before or "", rule, path), (rule.setting,))
    entry = {"path": path, "share": share, "old": old, "is_new": before is None}
    entry |= {"before": before or "", "after": sha256_hex((after or "").encode())}
    if first is not None and first["share"] == old:  # ours, raised once more
        entry |= {key: first[key] for key in ("old", "is_new", "before")}
        if first["after"] != sha256_hex((before or "").encode()):
            entry["after"] = ""  # the file was changed between: our number alone goes
    change_listing_record(lambda record: record.table(SETTINGS).update({rule.agent: entry}))


def _entry(rule: Rule) -> dict[str, Any] | None:
    """Return what is on record about an agent's setting that skc changed."""
    entry = read_listing_record().tables.get(SETTINGS, {}).get(rule.agent)
    keys = {"path", "share", "old", "is_new", "before", "after"}
    return entry if isinstance(entry, dict) and keys <= entry.keys() else None


def _read_share(rule: Rule, path: str) -> float | None:
    """Return the share that a file of settings gives; None where the agent does not take it from there."""
    try:
        value = json.loads((read_text(path)).removeprefix("\ufeff"))
    except (SkillcError, ValueError, RecursionError):
        return None
    share = value.get(rule.setting) if isinstance(value, dict) else None
    if isinstance(share, bool) or not isinstance(share, int | float):
        return None
    return float(share) if 0 < share <= 1 else None


def _parse(text: str, rule: Rule, path: str) -> Mapping[str, Any]:
    try:
        value = parse_settings(text)
    except (ValueError, IndexError, RecursionError) as error:
        raise _unreadable(rule, path, error) from None
    if not isinstance(value, dict):
        raise _unreadable(rule, path, ValueError("no object"))
    return value


def _unreadable(rule: Rule, path: str, error: Exception) -> SkillcError:
    return SkillcError(f"'{path}' is not as {rule.program} reads it ({error}); nothing was written")
