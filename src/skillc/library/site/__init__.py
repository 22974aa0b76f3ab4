"""Skills of a web site, by well-known discovery: version 0.2.0 and the form before it."""

from skillc.library.site.source import WellKnownSkillSource

__all__ = ["WellKnownSkillSource"]
