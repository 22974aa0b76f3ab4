"""What real agents put into their prompts is what `skc listing` says."""

from __future__ import annotations

import pytest

from tests.agents.programs import FOLDERS, ask, new_home, read_listing
from tests.agents.skills import predict, write_skills

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("agent", FOLDERS)
def test_as_the_real_program(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: What agents see] [D75] each skill is whole, cut, a name, or not there, as predicted."""
    for count in (12, 60, 250):
        with new_home() as home:
            write_skills(home / FOLDERS[agent], count)
            seen = read_listing(agent, ask(agent, home))
            listing = predict(agent, home, monkeypatch)
            wrong = [
                (skill.id, skill.state, skill.shown, len(seen[skill.id]) if skill.id in seen else None)
                for skill in listing.skills
                if (len(seen[skill.id]) if skill.id in seen else None)
                != (None if skill.state in ("on-demand", "absent") else skill.shown)
            ]
            assert wrong == []
            assert len(listing.skills) == count
