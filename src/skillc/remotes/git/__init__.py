"""Fetch git repositories without a git program."""
