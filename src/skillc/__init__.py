"""The toolchain and runtime for Agent Skills: folders with a SKILL.md.

Importing it costs nothing until a name is used.

>>> import skillc
>>> skillc.SkillId("extraction/email-extractor").collection
'extraction'
"""

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.adapters import SkillToolset
    from skillc.engine import (
        AgentBuildConfig,
        AgentFactory,
        BuiltAgent,
        DefaultSkillEngine,
        EngineOptions,
        ModelInput,
        ResolvedSkill,
        SkillEngine,
        SkillEvent,
        SkillResolutionFailed,
        SkillsResolved,
        SyncSkillEngine,
        ToolDefinition,
        ToolResult,
        Turn,
        model_input,
        prepare_turn,
    )
    from skillc.errors import SkillcError
    from skillc.errors.tree import *
    from skillc.library import (
        BearerAuth,
        CompositeSkillSource,
        EmbeddedSkillSource,
        FilesystemSkillSource,
        FilteredSkillSource,
        GitRef,
        GitSkillConfig,
        GitSkillSource,
        HeaderAuth,
        HttpSkillSource,
        HttpsToken,
        InMemorySkillSource,
        McpSkillSource,
        NamedSource,
        PrefixedSkillSource,
        RenamedSkillSource,
        SkillCollection,
        SkillDescriptor,
        SkillDocument,
        SkillFilter,
        SkillRepositoryConfig,
        SkillsConfig,
        SkillScope,
        SkillSource,
        SshKey,
        resolve_repositories,
    )
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
    "SkillEngine",
    "SkillEvent",
    "SkillExists",
    "SkillFilter",
    "SkillId",
    "SkillNotFound",
    "SkillRepositoryConfig",
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
            "engine": (
                "AgentBuildConfig AgentFactory BuiltAgent DefaultSkillEngine EngineOptions ModelInput "
                "ResolvedSkill SkillEngine SkillEvent SkillResolutionFailed SkillsResolved SyncSkillEngine "
                "ToolDefinition ToolResult Turn model_input prepare_turn"
            ),
            "errors": (
                "ApprovalRequired CannotRun DirectoryNotFound EmptyQuery FileNotFound IndexCollision "
                "IndexUnusable InvalidConfiguration InvalidFilter InvalidOption InvalidParameter "
                "InvalidQueryType InvalidSkill InvalidSkillId InvalidTool LintFailed MissingExtra "
                "MissingField NoLocalLogs PathEscapes RepositoryUnavailable SandboxUnavailable "
                "SectionNotFound SkillExists SkillNotFound SkillcError SyncNotReadable "
                "SyncNotWritable TargetExists TimedOut ToolNotFound"
            ),
            "library": (
                "BearerAuth CompositeSkillSource EmbeddedSkillSource FilesystemSkillSource "
                "FilteredSkillSource GitRef GitSkillConfig GitSkillSource HeaderAuth HttpSkillSource "
                "HttpsToken InMemorySkillSource McpSkillSource NamedSource PrefixedSkillSource "
                "RenamedSkillSource SkillCollection SkillDescriptor SkillDocument SkillFilter "
                "SkillRepositoryConfig SkillScope SkillSource SkillsConfig SshKey "
                "resolve_repositories"
            ),
            "skills": "SkillId",
            "tools": "ApprovalRequest",
            "adapters": "SkillToolset",
        },
    )
