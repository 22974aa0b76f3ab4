"""Find and remove what is no longer needed: caches, orphans, ghosts and leftovers.

What is in use, access logs, the trash, decisions about trust and whatever a user wrote stay.
"""

from __future__ import annotations

from skillc.install.caches import find_caches
from skillc.install.ghosts import find_ghost_deployments
from skillc.install.orphans import find_leftovers, find_orphans
from skillc.install.waste import Waste


def find_waste(cwd: str) -> list[Waste]:
    """Return what can go in the home and in the projects of `cwd`, in the order in which it goes.

    Ghosts go before the builds that their links lead to.
    """
    caches = list(find_caches())
    removals = {waste.path for waste in caches}
    return [*caches, *find_ghost_deployments(), *find_orphans(cwd, removals), *find_leftovers(cwd)]
