"""Keep listings current after skills changed: fit them, or say which overflow [D75].

Apart from `fit`, because most builds fit nothing.
"""

from __future__ import annotations

from skillc import paths
from skillc.errors import Diagnostic, warning
from skillc.listing.listing import list_agents, note_whole
from skillc.listing.more_skills import keep_more_skills
from skillc.settings import load_settings
from skillc.text import count_of


def renew_listings(cwd: str) -> list[Diagnostic]:
    """Do what listings need after skills changed; return what is to be said of it.

    Where `[listing] fit` is set they are fitted. The way to skills on demand is kept current, and a listing
    that overflows is told.
    """
    if paths.home() is None:
        return []
    if load_settings(cwd).fit:
        from skillc.listing.fit import fit_listings  # with it, what it weighs: usage, plans

        fitting = fit_listings(cwd, is_automatic=True)
        diagnostics = list(fitting.diagnostics)
        if fitting.changes:
            diagnostics.append(warning("W103", count_of(fitting.changes, "skill")))
    else:
        diagnostics = keep_more_skills()
    listings = [each for each in list_agents(cwd).agents if each.measured]
    note_whole({each.agent: each.whole_names for each in listings})
    return [*diagnostics, *(each.overflow for each in listings if each.overflow is not None)]
