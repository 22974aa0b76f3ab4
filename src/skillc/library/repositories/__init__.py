"""Repositories: the sources that skills.toml names, the variables they may use, and refreshing them.

Reads and edits skills.toml, and makes one source of all that it names; asks nothing of a person.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.repositories.config import (
        SkillRepositoryConfig,
        SkillsConfig,
        find_skills_file,
        repositories_in_force,
    )
    from skillc.library.repositories.edit import NewRepository, add_repository, remove_repository
    from skillc.library.repositories.resolve import (
        Refresh,
        choose_repositories,
        refresh_repositories,
        resolve_repositories,
        source_of,
    )
    from skillc.library.repositories.variables import (
        VariableUse,
        allow_variable,
        allow_variables,
        allowed_variables,
        forget_variable,
        variables_asked_for,
        variables_used,
    )
else:
    __getattr__, __all__ = front_door(__name__)
