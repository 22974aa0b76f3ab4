"""Skills of a server that speaks the Skills API, over HTTP."""

from skillc.library.http.source import HttpSkillSource
from skillc.library.http.wire import BearerAuth, HeaderAuth, StoredAuth

__all__ = ["BearerAuth", "HeaderAuth", "HttpSkillSource", "StoredAuth"]
