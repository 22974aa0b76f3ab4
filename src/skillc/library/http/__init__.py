"""Skills of a server that speaks the Skills API, over HTTP; what it is asked needs the extra `http`."""

from skillc.library.http.auth import BearerAuth, HeaderAuth
from skillc.library.http.source import HttpSkillSource

__all__ = ["BearerAuth", "HeaderAuth", "HttpSkillSource"]
