"""Indexes that nobody builds by hand: those of skills that come from repositories."""

from __future__ import annotations

from skillc.compiler.build import build_skill
from skillc.errors import SkillcError
from skillc.settings import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library import Skill


def keep_indexed(skill: Skill, cwd: str) -> None:
    """Bring the index of a repository's skill up to date; those of the stores are their authors' to build.

    A copy that was looked at a moment ago has not changed since. Where building fails, whoever needs
    the index says what is missing.
    """
    if not skill.repository or skill.is_recent:
        return
    config = load(cwd)
    try:
        build_skill(skill, tokenizer=config.tokenizer, formats=config.formats)
    except (SkillcError, OSError):
        pass
