"""What real agents put into their prompts is what `skc listing` says."""

from __future__ import annotations

import pytest

from skillc.listing import AgentListing, read_rules
from tests.agents.programs import FOLDERS, ask, new_home, read_listing
from tests.agents.skills import predict, write_commands, write_plugin, write_skills
from tests.support.examples import sample

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("agent", FOLDERS)
def test_as_the_real_program(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: What agents see] [D75] each skill is whole, cut, a name, or not there, as predicted."""
    counts = (12, 60, 250)
    for count in counts if agent in ("claude", "codex") else sample(counts, 3, 2):  # the others take 4 s
        with new_home(agent) as home:
            write_skills(home / FOLDERS[agent], count)
            seen = read_listing(agent, ask(agent, home))
            listing = predict(agent, home, monkeypatch)
            assert find_wrong(listing, seen) == []
            assert len(listing.skills) == count


def find_wrong(listing: AgentListing, seen: dict[str, str]) -> list[tuple[str, str | None, int, int | None]]:
    """Return what was shown otherwise than predicted."""
    return [
        (skill.id, skill.state, skill.shown, len(seen[skill.id]) if skill.id in seen else None)
        for skill in listing.skills
        if (len(seen[skill.id]) if skill.id in seen else None)
        != (None if skill.state in ("on-demand", "absent") else skill.shown)
    ]


def test_commands_and_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: What agents see] Claude Code lists its custom commands and what plugins have, too."""
    for count in (4, 30):
        with new_home("claude") as home:
            write_skills(home / FOLDERS["claude"], count)
            write_commands(home / ".claude" / "commands", count)
            write_plugin(home)
            seen = read_listing("claude", ask("claude", home))
            listing = predict("claude", home, monkeypatch)
            assert find_wrong(listing, seen) == []
            names = {skill.id for skill in listing.skills}
            assert {"empty", "one", "plug:first", "plug:third"} <= names
            assert len(names) == 2 * count + 5
            assert set(seen) - names <= set(read_rules()["claude"].own)
