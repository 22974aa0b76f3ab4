"""Skills of a registry that speaks the ClawHub v1 protocol."""

from skillc.library.clawhub.source import ClawHubSkillSource

__all__ = ["ClawHubSkillSource"]
