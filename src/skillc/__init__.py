"""The toolchain and runtime for Agent Skills: folders with a SKILL.md.

Importing it costs nothing until a name is used.

>>> import skillc
>>> skillc.SkillId("extraction/email-extractor").collection
'extraction'
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.adapters import SkillToolset
    from skillc.engine.agent import AgentBuildConfig, AgentFactory, BuiltAgent
    from skillc.engine.engine import DefaultSkillEngine, EngineOptions, ResolvedSkill
    from skillc.engine.events import SkillEvent, SkillResolutionFailed, SkillsResolved
    from skillc.engine.prompts import ModelInput, model_input
    from skillc.engine.sync import SyncSkillEngine
    from skillc.engine.tools import ToolDefinition, ToolResult
    from skillc.engine.turn import Turn, prepare_turn
    from skillc.errors import (
        ApprovalRequired,
        CannotRun,
        DirectoryNotFound,
        EmptyQuery,
        FileNotFound,
        IndexCollision,
        IndexUnusable,
        InvalidConfiguration,
        InvalidFilter,
        InvalidOption,
        InvalidParameter,
        InvalidQueryType,
        InvalidSkill,
        InvalidSkillId,
        InvalidTool,
        LintFailed,
        MissingExtra,
        MissingField,
        NoLocalLogs,
        PathEscapes,
        RepositoryUnavailable,
        SandboxUnavailable,
        SectionNotFound,
        SkillcError,
        SkillExists,
        SkillNotFound,
        SyncNotReadable,
        SyncNotWritable,
        TargetExists,
        TimedOut,
        ToolNotFound,
    )
    from skillc.library.config import SkillsConfig
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
    from skillc.library.library import CompositeSkillSource, NamedSource
    from skillc.library.mcp import McpSkillSource
    from skillc.library.memory import InMemorySkillSource
    from skillc.library.repositories import resolve_repositories
    from skillc.library.source import SkillSource
    from skillc.library.wrappers import FilteredSkillSource, PrefixedSkillSource, RenamedSkillSource
    from skillc.skills import SkillId
    from skillc.tools import ApprovalRequest

__version__ = "0.1.0"

__all__ = [
    "AgentBuildConfig",
    "AgentFactory",
    "ApprovalRequest",
    "ApprovalRequired",
    "BearerAuth",
    "BuiltAgent",
    "CannotRun",
    "CompositeSkillSource",
    "DefaultSkillEngine",
    "DirectoryNotFound",
    "EmbeddedSkillSource",
    "EmptyQuery",
    "EngineOptions",
    "FileNotFound",
    "FilesystemSkillSource",
    "FilteredSkillSource",
    "GitRef",
    "GitSkillConfig",
    "GitSkillSource",
    "HeaderAuth",
    "HttpSkillSource",
    "HttpsToken",
    "InMemorySkillSource",
    "IndexCollision",
    "IndexUnusable",
    "InvalidConfiguration",
    "InvalidFilter",
    "InvalidOption",
    "InvalidParameter",
    "InvalidQueryType",
    "InvalidSkill",
    "InvalidSkillId",
    "InvalidTool",
    "LintFailed",
    "McpSkillSource",
    "MissingExtra",
    "MissingField",
    "ModelInput",
    "NamedSource",
    "NoLocalLogs",
    "PathEscapes",
    "PrefixedSkillSource",
    "RenamedSkillSource",
    "RepositoryUnavailable",
    "ResolvedSkill",
    "SandboxUnavailable",
    "SectionNotFound",
    "SkillCollection",
    "SkillDescriptor",
    "SkillDocument",
    "SkillEvent",
    "SkillExists",
    "SkillFilter",
    "SkillId",
    "SkillNotFound",
    "SkillResolutionFailed",
    "SkillScope",
    "SkillSource",
    "SkillToolset",
    "SkillcError",
    "SkillsConfig",
    "SkillsResolved",
    "SshKey",
    "SyncNotReadable",
    "SyncNotWritable",
    "SyncSkillEngine",
    "TargetExists",
    "TimedOut",
    "ToolDefinition",
    "ToolNotFound",
    "ToolResult",
    "Turn",
    "model_input",
    "prepare_turn",
    "resolve_repositories",
]


if not TYPE_CHECKING:
    __getattr__ = front_door(
        __name__,
        {
            "engine.events": "SkillEvent SkillResolutionFailed SkillsResolved",
            "engine.agent": "AgentBuildConfig AgentFactory BuiltAgent",
            "engine.prompts": "ModelInput model_input",
            "engine.engine": "DefaultSkillEngine EngineOptions ResolvedSkill",
            "engine.sync": "SyncSkillEngine",
            "engine.tools": "ToolDefinition ToolResult",
            "engine.turn": "Turn prepare_turn",
            "errors": (
                "ApprovalRequired CannotRun DirectoryNotFound EmptyQuery FileNotFound IndexCollision "
                "IndexUnusable InvalidConfiguration InvalidFilter InvalidOption InvalidParameter "
                "InvalidQueryType InvalidSkill InvalidSkillId InvalidTool LintFailed MissingExtra "
                "MissingField NoLocalLogs PathEscapes RepositoryUnavailable SandboxUnavailable "
                "SectionNotFound SkillExists SkillNotFound SkillcError SyncNotReadable "
                "SyncNotWritable TargetExists TimedOut ToolNotFound"
            ),
            "library.library": "CompositeSkillSource NamedSource",
            "library.config": "SkillsConfig",
            "library.descriptors": "SkillCollection SkillDescriptor SkillDocument SkillFilter SkillScope",
            "library.embedded": "EmbeddedSkillSource",
            "library.filesystem": "FilesystemSkillSource",
            "library.git": "GitRef GitSkillConfig GitSkillSource HttpsToken SshKey",
            "library.http": "BearerAuth HeaderAuth HttpSkillSource",
            "library.mcp": "McpSkillSource",
            "library.memory": "InMemorySkillSource",
            "library.repositories": "resolve_repositories",
            "library.source": "SkillSource",
            "library.wrappers": "FilteredSkillSource PrefixedSkillSource RenamedSkillSource",
            "skills.ids": "SkillId",
            "adapters": "SkillToolset",
            "tools": "ApprovalRequest",
        },
    )
