"""The toolchain and runtime for Agent Skills: folders with a SKILL.md.

Importing it costs nothing until a name is used.

>>> import skillc
>>> skillc.SkillId("extraction/email-extractor").collection
'extraction'
"""

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.adapters import SkillToolset as SkillToolset
    from skillc.engine import (
        AgentBuildConfig as AgentBuildConfig,
        AgentFactory as AgentFactory,
        BuiltAgent as BuiltAgent,
        DefaultSkillEngine as DefaultSkillEngine,
        EngineOptions as EngineOptions,
        ModelInput as ModelInput,
        ResolvedSkill as ResolvedSkill,
        SkillEngine as SkillEngine,
        SkillEvent as SkillEvent,
        SkillResolutionFailed as SkillResolutionFailed,
        SkillsResolved as SkillsResolved,
        SyncSkillEngine as SyncSkillEngine,
        ToolDefinition as ToolDefinition,
        ToolResult as ToolResult,
        Turn as Turn,
        model_input as model_input,
        prepare_turn as prepare_turn,
    )
    from skillc.errors import SkillcError as SkillcError
    from skillc.errors.tree import *
    from skillc.library import (
        BearerAuth as BearerAuth,
        CompositeSkillSource as CompositeSkillSource,
        EmbeddedSkillSource as EmbeddedSkillSource,
        FilesystemSkillSource as FilesystemSkillSource,
        FilteredSkillSource as FilteredSkillSource,
        GitRef as GitRef,
        GitSkillConfig as GitSkillConfig,
        GitSkillSource as GitSkillSource,
        HeaderAuth as HeaderAuth,
        HttpSkillSource as HttpSkillSource,
        HttpsToken as HttpsToken,
        InMemorySkillSource as InMemorySkillSource,
        McpSkillSource as McpSkillSource,
        NamedSource as NamedSource,
        PrefixedSkillSource as PrefixedSkillSource,
        RenamedSkillSource as RenamedSkillSource,
        SkillCollection as SkillCollection,
        SkillDescriptor as SkillDescriptor,
        SkillDocument as SkillDocument,
        SkillFilter as SkillFilter,
        SkillRepositoryConfig as SkillRepositoryConfig,
        SkillsConfig as SkillsConfig,
        SkillScope as SkillScope,
        SkillSource as SkillSource,
        SshKey as SshKey,
        resolve_repositories as resolve_repositories,
    )
    from skillc.skills import SkillId as SkillId
    from skillc.tools import ApprovalRequest as ApprovalRequest

__version__ = "0.1.0"

if not TYPE_CHECKING:
    _HOMES = {
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
    }
    __all__ = [name for names in _HOMES.values() for name in names.split()]
    __getattr__ = front_door(__name__, _HOMES)
