"""Switches: skills that a person disabled for all agents or for some, in `~/.skillc/disabled.json`.

A disabled skill stays in its store and can be read; `build` compiles it and does not deploy it. The file is
in the home: a project that was cloned can switch no skill of the user's off or on.

    {"version": 2, "sha256": "3f…", "disabled": [{"source": "/home/me/.skillc/skills/pdf",
     "everywhere": true, "places": [], "deployments": [{"skill": "pdf", …}]}]}

`places` are the paths in agents' folders that the skill is disabled for; where it is disabled `everywhere`,
they are the exceptions. `deployments` are those that were taken away, for `enable` to make again. While the
file is damaged nothing is deployed, so that no skill comes back in silence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from skillc.contract import encode
from skillc.library.records.deployments import DeploymentRecord, parse_record
from skillc.records import Record
from skillc.text import utf8_text

RECORD = Record(
    "disabled.json",
    2,
    "disabled",
    "it is damaged; move it away, and 'skc disable' again what should be disabled",
    unsealed=1,
    limit=16 << 20,
    private=False,
)


@dataclass(frozen=True, slots=True)
class Switch:
    """Where a skill is disabled: everywhere but at `places`, or at these alone."""

    source: str
    everywhere: bool = False
    places: tuple[str, ...] = ()
    deployments: tuple[DeploymentRecord, ...] = ()

    def covers(self, path: str) -> bool:
        """Return whether the skill is disabled at a path in an agent's folder."""
        return self.everywhere != (utf8_text(path) in self.places)

    def covers_all(self, places: Iterable[str] | None) -> bool:
        """Return whether the skill is disabled at all these paths (None: everywhere)."""
        return self.everywhere and not self.places if places is None else all(map(self.covers, places))

    @property
    def text(self) -> str:
        """Where the skill is disabled, in words; empty if nowhere."""
        names = ", ".join(map(os.path.dirname, self.places))
        if self.everywhere:
            return f"disabled, but not in {names}" if names else "disabled"
        return f"disabled in {names}" if names else ""

    def with_disabled(self, places: Iterable[str] | None, more: Iterable[DeploymentRecord]) -> Switch:
        """Return this switch with more places disabled (None: all), and the deployments they had."""
        deployments = tuple({record.path: record for record in (*self.deployments, *more)}.values())
        if places is None:
            return Switch(self.source, True, (), deployments)
        return Switch(self.source, self.everywhere, self._change(places, self.everywhere), deployments)

    def with_enabled(self, places: Iterable[str] | None) -> Switch:
        """Return this switch with places enabled (None: all), and without their deployments."""
        if places is None:
            return Switch(self.source)
        here = set(places)
        rest = tuple(record for record in self.deployments if record.path not in here)
        return Switch(self.source, self.everywhere, self._change(here, not self.everywhere), rest)

    def _change(self, places: Iterable[str], remove: bool) -> tuple[str, ...]:
        changes = {utf8_text(place) for place in places}
        return tuple(sorted({*self.places} - changes if remove else {*self.places} | changes))


def read_switches() -> dict[str, Switch]:
    """Return the switches of disabled skills by source; raise InvalidConfiguration for a damaged file."""
    return RECORD.read(lambda entries: {s.source: s for s in map(parse_switch, entries)}, {})


def find_switch(source: str) -> Switch:
    """Return the switch of the skill at `source`; one that covers nothing if it is not disabled."""
    return read_switches().get(utf8_text(source), Switch(source))


def change_switch(source: str, change: Callable[[Switch], Switch]) -> Switch:
    """Replace the switch of a skill by what `change` returns for it, under a lock; return the old one."""
    source = utf8_text(source)
    with RECORD.lock():
        switches = read_switches()
        old = switches.pop(source, Switch(source))
        new = change(old)
        if new.everywhere or new.places:
            switches[source] = new
        if new != old:
            RECORD.write(encode(list(switches.values())))
    return old


def parse_switch(entry: dict[str, Any]) -> Switch:
    """Return a switch from its JSON; raises KeyError or TypeError."""
    deployments = map(parse_record, entry["deployments"])
    places = tuple(map(str, entry["places"]))
    return Switch(str(entry["source"]), entry["everywhere"] is True, places, tuple(deployments))
