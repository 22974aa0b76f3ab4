"""Read the tools that a SKILL.md declares: blocks, definitions, parameters, command templates."""
