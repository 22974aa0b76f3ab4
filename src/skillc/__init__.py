"""The toolchain and runtime for Agent Skills: folders with a SKILL.md."""

__version__ = "0.1.0"
