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
    from skillc.errors import (
        ApprovalRequired as ApprovalRequired,
        CannotRun as CannotRun,
        DirectoryNotFound as DirectoryNotFound,
        EmptyQuery as EmptyQuery,
        FileNotFound as FileNotFound,
        IndexCollision as IndexCollision,
        IndexUnusable as IndexUnusable,
        InvalidConfiguration as InvalidConfiguration,
        InvalidFilter as InvalidFilter,
        InvalidOption as InvalidOption,
        InvalidParameter as InvalidParameter,
        InvalidQueryType as InvalidQueryType,
        InvalidSkill as InvalidSkill,
        InvalidSkillId as InvalidSkillId,
        InvalidTool as InvalidTool,
        LintFailed as LintFailed,
        MissingExtra as MissingExtra,
        MissingField as MissingField,
        NoLocalLogs as NoLocalLogs,
        PathEscapes as PathEscapes,
        RepositoryUnavailable as RepositoryUnavailable,
        SandboxUnavailable as SandboxUnavailable,
        SectionNotFound as SectionNotFound,
        SkillcError as SkillcError,
        SkillExists as SkillExists,
        SkillNotFound as SkillNotFound,
        SyncNotReadable as SyncNotReadable,
        SyncNotWritable as SyncNotWritable,
        TargetExists as TargetExists,
        TimedOut as TimedOut,
        ToolNotFound as ToolNotFound,
    )
    from skillc.library.repositories import (
        SkillRepositoryConfig as SkillRepositoryConfig,
        SkillsConfig as SkillsConfig,
        resolve_repositories as resolve_repositories,
    )
    from skillc.library.sources import (
        CompositeSkillSource as CompositeSkillSource,
        EmbeddedSkillSource as EmbeddedSkillSource,
        FilesystemSkillSource as FilesystemSkillSource,
        FilteredSkillSource as FilteredSkillSource,
        GitSkillSource as GitSkillSource,
        HttpSkillSource as HttpSkillSource,
        InMemorySkillSource as InMemorySkillSource,
        McpSkillSource as McpSkillSource,
        NamedSource as NamedSource,
        PrefixedSkillSource as PrefixedSkillSource,
        RenamedSkillSource as RenamedSkillSource,
        SkillCollection as SkillCollection,
        SkillDescriptor as SkillDescriptor,
        SkillDocument as SkillDocument,
        SkillFilter as SkillFilter,
        SkillScope as SkillScope,
        SkillSource as SkillSource,
    )
    from skillc.remotes.git import (
        GitRef as GitRef,
        GitSkillConfig as GitSkillConfig,
        HttpsToken as HttpsToken,
        SshKey as SshKey,
    )
    from skillc.remotes.http import BearerAuth as BearerAuth, HeaderAuth as HeaderAuth
    from skillc.skills import SkillId as SkillId
    from skillc.tools import ApprovalRequest as ApprovalRequest

__version__ = "0.1.0"

if not TYPE_CHECKING:
    __getattr__, __all__ = front_door(__name__)
