"""The toolchain and runtime for Agent Skills: folders with a SKILL.md.

Importing it costs nothing until a name is used.

>>> import skillc
>>> skillc.SkillId("extraction/email-extractor").collection
'extraction'
"""

from skillc.lazy import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.engine.factory import AgentBuildConfig, AgentFactory
    from skillc.engine.skill_engine import DefaultSkillEngine, EngineOptions, ResolvedSkill
    from skillc.engine.sync import SyncSkillEngine
    from skillc.engine.turns import prepare_turn
    from skillc.errors import SkillcError
    from skillc.library.composite import CompositeSkillSource, NamedSource
    from skillc.library.configuration import SkillsConfig
    from skillc.library.descriptors import (
        SkillCollection,
        SkillDescriptor,
        SkillDocument,
        SkillFilter,
        SkillScope,
    )
    from skillc.library.embedded import EmbeddedSkillSource
    from skillc.library.filesystem import FilesystemSkillSource
    from skillc.library.git import GitRef, GitSkillConfig, GitSkillSource, HttpsToken, SshKey
    from skillc.library.http import BearerAuth, HeaderAuth, HttpSkillSource
    from skillc.library.mcp import McpSkillSource
    from skillc.library.memory import InMemorySkillSource
    from skillc.library.repositories import resolve_repositories
    from skillc.library.sources import SkillSource
    from skillc.library.wrappers import FilteredSkillSource, PrefixedSkillSource, RenamedSkillSource
    from skillc.skills.ids import SkillId

__version__ = "0.1.0"

__all__ = [
    "AgentBuildConfig",
    "AgentFactory",
    "BearerAuth",
    "CompositeSkillSource",
    "DefaultSkillEngine",
    "EmbeddedSkillSource",
    "EngineOptions",
    "FilesystemSkillSource",
    "FilteredSkillSource",
    "GitRef",
    "GitSkillConfig",
    "GitSkillSource",
    "HeaderAuth",
    "HttpSkillSource",
    "HttpsToken",
    "InMemorySkillSource",
    "McpSkillSource",
    "NamedSource",
    "PrefixedSkillSource",
    "RenamedSkillSource",
    "ResolvedSkill",
    "SkillCollection",
    "SkillDescriptor",
    "SkillDocument",
    "SkillFilter",
    "SkillId",
    "SkillScope",
    "SkillSource",
    "SkillcError",
    "SkillsConfig",
    "SshKey",
    "SyncSkillEngine",
    "prepare_turn",
    "resolve_repositories",
]

__getattr__ = front_door(
    __name__,
    {
        "engine.factory": ("AgentBuildConfig", "AgentFactory"),
        "engine.skill_engine": ("DefaultSkillEngine", "EngineOptions", "ResolvedSkill"),
        "engine.sync": ("SyncSkillEngine",),
        "engine.turns": ("prepare_turn",),
        "errors": ("SkillcError",),
        "library.composite": ("CompositeSkillSource", "NamedSource"),
        "library.configuration": ("SkillsConfig",),
        "library.descriptors": (
            "SkillCollection",
            "SkillDescriptor",
            "SkillDocument",
            "SkillFilter",
            "SkillScope",
        ),
        "library.embedded": ("EmbeddedSkillSource",),
        "library.filesystem": ("FilesystemSkillSource",),
        "library.git": ("GitRef", "GitSkillConfig", "GitSkillSource", "HttpsToken", "SshKey"),
        "library.http": ("BearerAuth", "HeaderAuth", "HttpSkillSource"),
        "library.mcp": ("McpSkillSource",),
        "library.memory": ("InMemorySkillSource",),
        "library.repositories": ("resolve_repositories",),
        "library.sources": ("SkillSource",),
        "library.wrappers": ("FilteredSkillSource", "PrefixedSkillSource", "RenamedSkillSource"),
        "skills.ids": ("SkillId",),
    },
)
