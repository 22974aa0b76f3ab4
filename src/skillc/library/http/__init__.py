"""Skills of a server that speaks the Skills API, over HTTP."""

from skillc.library.http.source import HttpSkillSource
from skillc.remotes import BearerAuth, HeaderAuth, StoredAuth

__all__ = ["BearerAuth", "HeaderAuth", "HttpSkillSource", "StoredAuth"]
