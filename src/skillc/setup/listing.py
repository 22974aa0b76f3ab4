"""The part of setup that fits listings, and keeps them so: `[listing] fit = true` in the user's config.toml.

A value that the user wrote stays. Other lines, comments and line ends stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillc import paths
from skillc.compiler import agents_by_name
from skillc.errors import Diagnostic, SkillcError
from skillc.listing import Fitting, fit_listings, has_fitted, read_rules, reset_listings
from skillc.settings import parse_toml
from skillc.setup.edits import Edit, FileRecord, SetupChange
from skillc.setup.hooks import Part
from skillc.shared_files import read_text

TABLE, KEY = "listing", "fit"
BY = "  # by 'skc setup'"
LINE, HEADER = f"{KEY} = true{BY}", f"[{TABLE}]{BY}"
_HEADER = re.compile(rf"(?m)^\ufeff?[ \t]*\[[ \t]*{TABLE}[ \t]*\][^\n]*$")
_LINE, _OWN_HEADER = (re.compile(rf"(?m)^{re.escape(each)}\r?\n?") for each in (LINE, HEADER))
WHAT = "listings kept fitted: 'fit = true'"


@dataclass(frozen=True, slots=True)
class ListingPlan:
    """What setup does with listings: the change of config.toml, and the choice for each agent.

    `agents` are those with a measured rule. To undo, skills are listed again that were before.
    """

    agents: Sequence[str]
    edit: Edit | None = None
    fitting: Fitting | None = None
    lists_all: bool = False

    def changes(self) -> Iterator[tuple[str, SetupChange]]:
        """Yield agents, and what changes in their folders."""
        for each in self.fitting.agents if self.fitting else ():
            if any(choice.is_change for choice in each.choices):
                counts = f"{len(each.listed)} skills listed, {len(each.on_demand)} on demand"
                yield self._agent(each.agent), SetupChange(_folder(each.agent), f"listing fitted: {counts}")
        if self.lists_all:
            yield (
                self.agents[0],
                SetupChange(_folder(_rule_name(self.agents[0])), "skills on demand listed again"),
            )

    def lines(self) -> Iterator[str]:
        """Yield the choice with its reasons, to be agreed to."""
        yield from self.fitting.lines() if self.fitting and self.fitting.changes else ()

    def advise(self, agent: str) -> str:
        """Return what is to be done where skills that skc did not put there fill an agent's listing."""
        fits = self.fitting.agents if self.fitting else ()
        return next((each.excess for each in fits if each.agent == _rule_name(agent) and each.foreign), "")

    def write(self, cwd: str) -> tuple[Sequence[Diagnostic], Sequence[SkillcError]]:
        """Do it, and return what is to be said of it."""
        if self.lists_all:
            reset = reset_listings(cwd, keeps_choices=True)
            return reset.diagnostics, reset.failures
        if self.fitting is None or not self.fitting.changes:
            return (), ()
        names = ",".join(each.agent for each in self.fitting.agents)
        done = fit_listings(cwd, names, yes=True)
        return done.diagnostics, done.failures

    def _agent(self, rule: str) -> str:
        return next(each for each in self.agents if _rule_name(each) == rule)


def plan_listing(
    agents: Sequence[str], recorded: Mapping[str, FileRecord], cwd: str, *, undo: bool, yes: bool
) -> ListingPlan:
    """Plan the listings of agents; to undo, once no agent is set up any more.

    With `yes`, when nothing is shown, an agent that is newer than the one that was measured is left alone.
    """
    measured = [agent for agent in agents if _rule_name(agent) in read_rules()]
    path = config_path()
    record = recorded.get(path)
    if not measured or (undo and record is None):
        return ListingPlan(measured)
    edit = Edit(measured[0], path, (listing_part(),), record, undo, fits=not has_fitted())
    if undo:
        return ListingPlan(measured, edit, lists_all=bool(record and record.fits and has_fitted()))
    if not wants_fit(edit.apply(read_text(path)) or ""):
        return ListingPlan(measured)
    names = ",".join(map(_rule_name, measured))
    return ListingPlan(measured, edit, fit_listings(cwd, names, dry_run=True, is_automatic=yes))


def config_path() -> str:
    return paths.config_file(paths.require_home())


def listing_part() -> Part:
    """Return the entry in config.toml."""
    return Part(WHAT, put_fit, cut_fit)


def put_fit(text: str) -> str:
    """Return a config.toml that has listings fitted; as it is where it says so, or that they are not.

    Raise SkillcError where that can't be done.

    >>> put_fit("[listing]\\nwindow = 1000\\n").splitlines()[1]
    "fit = true  # by 'skc setup'"
    """
    table = _read(text)
    if KEY in table.get(TABLE, {}):
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    headers = list(_HEADER.finditer(text))
    if headers:
        place = headers[-1].end()
        after = f"{text[:place]}{end}{LINE}{text[place:]}"
        after = after.replace(f"\r{end}{LINE}\n", f"{end}{LINE}{end}")  # the header's own line end
    else:
        space = "" if not text else end if text.endswith("\n") else end * 2
        after = f"{text}{space}{HEADER}{end}{LINE}{end}"
    try:
        if parse_toml(after) == {**table, TABLE: {**table.get(TABLE, {}), KEY: True}}:
            return after
    except ValueError:  # the table is there in another form
        pass
    raise SkillcError(
        f"'{config_path()}' has '{TABLE}' in a form that skc can't add to; nothing was written",
        f"hint: give it '{KEY} = true' yourself, or leave listings out with --no-listing",
    )


def cut_fit(text: str) -> str:
    """Return a config.toml without our line, and our header where nothing is below it."""
    text = _LINE.sub("", text)
    return text if _read(text).get(TABLE) else _OWN_HEADER.sub("", text)


def wants_fit(text: str) -> bool:
    """Return whether a config.toml keeps listings fitted."""
    return _read(text).get(TABLE, {}).get(KEY) is True


def _read(text: str) -> dict[str, Any]:
    try:
        table = parse_toml(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable(str(error)) from None
    if not isinstance(table.get(TABLE, {}), dict):
        raise _unreadable(f"'{TABLE}' is no table")
    return table


def _unreadable(reason: str) -> SkillcError:
    return SkillcError(
        f"'{config_path()}' can't be read ({reason}); nothing was written",
        "hint: correct it, or leave listings out with --no-listing",
    )


def _rule_name(agent: str) -> str:
    known = agents_by_name().get(agent)
    return known.name if known else agent


def _folder(rule: str) -> str:
    return next(read_rules()[rule].user_folders(), "")
