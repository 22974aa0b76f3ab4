"""Skills in git repositories, fetched without a git program."""

from skillc.library.git.config import GitAuth, GitRef, GitSkillConfig, HttpsToken, SshKey
from skillc.library.git.source import GitSkillSource

__all__ = ["GitAuth", "GitRef", "GitSkillConfig", "GitSkillSource", "HttpsToken", "SshKey"]
