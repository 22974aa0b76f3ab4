"""After `skc listing fit`, real agents show every description that they list whole, within their budget."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skillc.skills.document import parse
from tests.agents.programs import FOLDERS, ask, new_home, read_listing
from tests.agents.skills import WINDOWS, predict, write_commands, write_plugin, write_skills
from tests.support import examples

pytestmark = pytest.mark.slow


def run_skc(home: Path, *words: str) -> None:
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    subprocess.run([sys.executable, "-I", "-m", "skillc", *words], cwd=home, env=env, check=True)


MANY = 2000 if examples.is_complete else 400


@pytest.mark.parametrize(
    ("agent", "count"), [("claude", MANY), ("codex", MANY), ("github-copilot", 250), ("opencode", 250)]
)
def test_what_is_listed_is_whole(agent: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D75] and `more-skills` leads to the others, however many there are."""
    with new_home(agent) as home:
        folder = home / FOLDERS[agent]
        write_skills(folder, count)
        if agent == "claude":
            write_commands(home / ".claude" / "commands", 12)
            write_plugin(home)
        (home / ".skillc").mkdir()
        (home / ".skillc" / "config.toml").write_text(f"[listing]\nwindow = {WINDOWS[agent]}\n")
        run_skc(home, "import", str(folder), "--yes")
        run_skc(home, "listing", "fit", "--yes", "--agent", agent)
        seen = read_listing(agent, ask(agent, home))
        listing = predict(agent, home, monkeypatch)
        ours = {skill.id: Path(skill.path) for skill in listing.skills if skill.ours and skill.id in seen}
        for name, path in ours.items():
            front = parse(path.read_bytes()).frontmatter
            assert front is not None
            assert seen[name].split() == front.fields["description"].split()
        assert len(ours) > 8
        assert len(ours) < count
        assert "more-skills" in ours
        assert {skill.state for skill in listing.skills} == {"whole", "on-demand"}
        assert listing.used <= (listing.budget or WINDOWS[agent] // 50 * 4)
