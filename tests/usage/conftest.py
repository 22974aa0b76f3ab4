"""Real servers for the tests of this room."""

from tests.support.http import stub
from tests.support.team import team

__all__ = ["stub", "team"]

# The log as a program that has no counts makes it.
PLAIN = """
CREATE TABLE access_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, run_id TEXT NOT NULL,
    command TEXT NOT NULL, skill TEXT NOT NULL, skill_path TEXT NOT NULL, cwd TEXT NOT NULL,
    args TEXT NOT NULL, error TEXT
)
"""
