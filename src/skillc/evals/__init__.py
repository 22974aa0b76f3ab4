"""Evals: does a skill fire, does it help, and is that more than chance.

Runs real agents in homes of their own, or ranks prompts without any; judges and counts. Changes no skill, but
for the cases that `init` writes.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.evals.draft import Draft, draft_cases
    from skillc.evals.evaluate import TRIGGERS, evaluate_skills, rank_named
    from skillc.evals.free import FreeReport
    from skillc.evals.report import Evaluation, SkillReport
    from skillc.evals.trial import EvalOptions
    from skillc.evals.views import html, junit, markdown, text_lines
else:
    __getattr__, __all__ = front_door(__name__)
