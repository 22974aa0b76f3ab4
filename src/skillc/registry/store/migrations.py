"""Create the tables of a registry, and bring those of an older program up to date: forwards only.

A migration never changes once it was released; a new one is added at the end. They run in one writing
transaction, so that of several servers that start at once one migrates, and the others find it done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import time_ns

from skillc.errors import RegistryUnavailable
from skillc.registry.store.database import Connection, Store
from skillc.registry.store.names import complete_names

Step = str | Callable[[Connection], None]

# Mirrors are callers with such a name, and without a token.
_ORIGINS = """INSERT INTO origins (skill, mirrored) SELECT changes.skill,
    CASE WHEN substr(subject, 1, 10) = 'mirror of ' AND token = '' THEN 1 ELSE 0 END FROM changes JOIN"""

# Times are microseconds since 1970. TEXT stands for the store's type of text that is sorted bytewise.
MIGRATIONS: tuple[tuple[Step, ...], ...] = (
    (
        "CREATE TABLE skills (id TEXT PRIMARY KEY, deleted_at BIGINT)",
        """CREATE TABLE versions (skill TEXT NOT NULL REFERENCES skills (id) ON DELETE CASCADE,
        version TEXT NOT NULL, digest TEXT NOT NULL, frontmatter TEXT NOT NULL, archive TEXT NOT NULL,
        archive_size BIGINT NOT NULL, published_at BIGINT NOT NULL, published_by TEXT NOT NULL,
        note TEXT NOT NULL, yanked TEXT, sequence BIGINT NOT NULL, PRIMARY KEY (skill, version))""",
        "CREATE INDEX versions_archive ON versions (archive)",
        """CREATE TABLE files (skill TEXT NOT NULL, version TEXT NOT NULL, path TEXT NOT NULL,
        size BIGINT NOT NULL, digest TEXT NOT NULL, executable INTEGER NOT NULL,
        PRIMARY KEY (skill, version, path),
        FOREIGN KEY (skill, version) REFERENCES versions (skill, version) ON DELETE CASCADE)""",
        "CREATE INDEX files_digest ON files (digest)",
        """CREATE TABLE tags (skill TEXT NOT NULL, tag TEXT NOT NULL, version TEXT NOT NULL,
        PRIMARY KEY (skill, tag),
        FOREIGN KEY (skill, version) REFERENCES versions (skill, version) ON DELETE CASCADE)""",
        """CREATE TABLE claims (publication TEXT NOT NULL, digest TEXT NOT NULL, claimed_at BIGINT NOT NULL,
        PRIMARY KEY (publication, digest))""",
        "CREATE INDEX claims_digest ON claims (digest)",
        """CREATE TABLE grants (subject TEXT NOT NULL, prefix TEXT NOT NULL, role INTEGER NOT NULL,
        PRIMARY KEY (subject, prefix))""",
        """CREATE TABLE tokens (id TEXT PRIMARY KEY, hash TEXT NOT NULL, owner TEXT NOT NULL,
        role INTEGER NOT NULL, prefix TEXT NOT NULL, label TEXT NOT NULL, parent TEXT NOT NULL,
        created_at BIGINT NOT NULL, expires_at BIGINT, revoked_at BIGINT)""",
        """CREATE TABLE changes (sequence BIGINT PRIMARY KEY, time BIGINT NOT NULL, subject TEXT NOT NULL,
        token TEXT NOT NULL, action TEXT NOT NULL, skill TEXT NOT NULL, version TEXT NOT NULL,
        detail TEXT NOT NULL)""",
    ),
    (
        """CREATE TABLE people (subject TEXT PRIMARY KEY, issuer TEXT NOT NULL, identity TEXT NOT NULL,
        name TEXT NOT NULL, email TEXT NOT NULL, groups TEXT NOT NULL, created_at BIGINT NOT NULL,
        signed_in_at BIGINT NOT NULL, UNIQUE (issuer, identity))""",
        """CREATE TABLE sessions (id TEXT PRIMARY KEY, hash TEXT NOT NULL, subject TEXT NOT NULL,
        token TEXT NOT NULL, created_at BIGINT NOT NULL, used_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL, revoked_at BIGINT)""",
        "CREATE INDEX sessions_subject ON sessions (subject)",
        """CREATE TABLE publishers (id TEXT PRIMARY KEY, issuer TEXT NOT NULL, repository TEXT NOT NULL,
        workflow TEXT NOT NULL, prefix TEXT NOT NULL, ref TEXT NOT NULL, environment TEXT NOT NULL,
        pin TEXT NOT NULL, created_at BIGINT NOT NULL, created_by TEXT NOT NULL)""",
        "CREATE TABLE id_tokens (key TEXT PRIMARY KEY, expires_at BIGINT NOT NULL)",
        "ALTER TABLE tokens ADD COLUMN publisher TEXT NOT NULL DEFAULT ''",
    ),
    (
        "ALTER TABLE versions ADD COLUMN status TEXT NOT NULL DEFAULT 'approved'",
        "ALTER TABLE versions ADD COLUMN audit TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX versions_status ON versions (status, sequence) WHERE status <> 'approved'",
        """CREATE TABLE reviews (skill TEXT NOT NULL, version TEXT NOT NULL, tag TEXT NOT NULL,
        reviewer TEXT NOT NULL, reviewed_at BIGINT, reason TEXT NOT NULL, PRIMARY KEY (skill, version),
        FOREIGN KEY (skill, version) REFERENCES versions (skill, version) ON DELETE CASCADE)""",
        """CREATE TABLE audits (skill TEXT NOT NULL, version TEXT NOT NULL, report TEXT NOT NULL,
        PRIMARY KEY (skill, version),
        FOREIGN KEY (skill, version) REFERENCES versions (skill, version) ON DELETE CASCADE)""",
        """CREATE TABLE usage (machine TEXT NOT NULL, day INTEGER NOT NULL, skill TEXT NOT NULL,
        file TEXT NOT NULL, section TEXT NOT NULL, command TEXT NOT NULL, count BIGINT NOT NULL,
        PRIMARY KEY (machine, day, skill, file, section, command))""",
        "CREATE INDEX usage_skill ON usage (skill, day)",
        """CREATE TABLE misses (machine TEXT NOT NULL, day INTEGER NOT NULL, skill TEXT NOT NULL,
        query TEXT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (machine, day, skill, query))""",
        "CREATE INDEX misses_skill ON misses (skill, day)",
    ),
    (
        # Both are kept when a skill is gone, so they refer to no other table.
        "CREATE TABLE names (place TEXT NOT NULL, name TEXT NOT NULL, skill TEXT NOT NULL, "
        "PRIMARY KEY (place, name))",
        "CREATE UNIQUE INDEX names_skill ON names (skill, place)",
        "CREATE TABLE origins (skill TEXT PRIMARY KEY, mirrored INTEGER NOT NULL)",
        # Of skills that are gone, by the first version that ever was; `complete` adds all others.
        f"""{_ORIGINS} (SELECT min(sequence) AS number FROM changes WHERE action = 'publish'
        AND skill NOT IN (SELECT skill FROM versions) GROUP BY skill) AS starts ON sequence = number""",  # noqa: S608
    ),
    (
        "ALTER TABLE versions ADD COLUMN signature TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE tokens ADD COLUMN build TEXT NOT NULL DEFAULT '{}'",
        """CREATE TABLE attestations (skill TEXT NOT NULL, version TEXT NOT NULL, statement TEXT NOT NULL,
        PRIMARY KEY (skill, version),
        FOREIGN KEY (skill, version) REFERENCES versions (skill, version) ON DELETE CASCADE)""",
    ),
)
COMPLETED = 4  # the migration whose tables `complete` fills


def complete(connection: Connection) -> None:
    """Give skills the names and origins that they lack.

    While servers are upgraded one after the other, those of an older version publish into a store that has
    newer tables, which they know nothing of.
    """
    complete_names(connection)
    query = f"""{_ORIGINS} (SELECT min(sequence) AS number FROM versions
        WHERE skill NOT IN (SELECT skill FROM origins) GROUP BY skill) AS starts ON sequence = number"""  # noqa: S608
    connection.execute(query)


def read_number(connection: Connection, known: int) -> int:
    """Return the last migration that a store has; raises RegistryUnavailable for one of a newer program."""
    ((number,),) = connection.execute("SELECT coalesce(max(number), 0) FROM migrations")
    if number > known:
        reason = f"a newer skillc wrote it (migration {number}; this one knows {known})"
        raise RegistryUnavailable("store", reason)
    return int(number)


def migrate(store: Store, migrations: Sequence[Sequence[Step]] = MIGRATIONS) -> None:
    """Run the migrations that a store lacks; raises RegistryUnavailable for a store of a newer program."""
    with store.write() as connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, applied_at BIGINT NOT NULL)"
        )
        last_number = read_number(connection, len(migrations))
        for number, steps in enumerate(migrations[last_number:], last_number + 1):
            for step in steps:
                if isinstance(step, str):
                    connection.execute(step.replace(" TEXT", f" {store.text_type}"))
                else:
                    step(connection)
            values = number, time_ns() // 1000
            connection.execute("INSERT INTO migrations (number, applied_at) VALUES (?, ?)", *values)
        if len(migrations) >= COMPLETED:
            complete(connection)
