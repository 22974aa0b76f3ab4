"""Look things up: the section index of one skill, and the skill index of all."""
