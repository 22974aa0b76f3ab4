"""Write the dumps from which the tests restore stores of older migrations: tests/registry/dumps.

Run it when a migration was added, before the next one is. What is there already is never written again.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.postgres import running_cluster

from skillc.registry import (
    SYSTEM,
    Batch,
    Count,
    RegistryConfig,
    ReviewRules,
    Role,
    make_package,
    open_registry,
)
from skillc.registry.model import Caller, Grant, Permission
from skillc.registry.model.access import hash_secret
from skillc.registry.store.migrations import MIGRATIONS
from skillc.registry.usage import Miss

DUMPS = ROOT / "tests" / "registry" / "dumps"
MAIN = b"---\nname: refunds\ndescription: Pay money back\n---\n# Refunds\n"


def fill(url: str, blobs: str) -> None:
    """Make one of everything that a store can hold."""
    ana = Caller("ana", (Permission(Role.PUBLISHER, "payments"),))
    with open_registry(url, blobs, RegistryConfig(review=ReviewRules(("payments",)))) as registry:
        registry.accounts.create_first_admin()
        registry.accounts.grant(SYSTEM, Grant("ana", Role.PUBLISHER, "payments"))
        made = registry.accounts.create_token(SYSTEM, Role.READER, "payments", owner="ana").token
        with registry._store.write() as connection:  # a secret that tests know
            values = "00c0ffee00c0ffee", hash_secret("A" * 43), made.id
            connection.execute("UPDATE tokens SET id = ?, hash = ? WHERE id = ?", *values)
        files = {"SKILL.md": MAIN, "scripts/run.sh": b"#!/bin/sh\n"}
        first = make_package("payments/refunds", files, {"scripts/run.sh"})
        registry.publish(SYSTEM, first, version="1.0.0", tag="stable")
        second = make_package(
            "payments/refunds", {**files, "SKILL.md": MAIN + b"More.\n"}, {"scripts/run.sh"}
        )
        registry.publish(SYSTEM, second, version="1.1.0", note="déjà vu 🦊")
        registry.yank(SYSTEM, "payments/refunds", "1.1.0", "it pays twice")
        registry.publish(SYSTEM, make_package("payments/deleted", {"SKILL.md": MAIN}))
        registry.delete(SYSTEM, "payments/deleted")
        report = {"findings": [{"level": "note"}]}
        registry.publish(ana, make_package("payments/waiting", {"SKILL.md": MAIN}), audit=report)
        today = registry.now().date()
        counts = (Count(today, "payments/refunds", "show", 3, section="Refunds"),)
        registry.usage.record(SYSTEM, Batch("00c0ffee" * 4, counts, (Miss(today, 1, query="teleport"),)))


def main() -> None:
    DUMPS.mkdir(exist_ok=True)
    number = f"{len(MIGRATIONS):04}"
    with tempfile.TemporaryDirectory() as folder:
        if not (DUMPS / f"{number}.sqlite.sql").exists():
            fill(f"{folder}/registry.db", f"{folder}/blobs")
            with sqlite3.connect(f"{folder}/registry.db") as connection:
                (DUMPS / f"{number}.sqlite.sql").write_text("\n".join(connection.iterdump()) + "\n")
        if not (DUMPS / f"{number}.postgresql.sql").exists():
            with running_cluster() as cluster:
                url = cluster.create_database("")
                fill(url, f"{folder}/blobs")
                (DUMPS / f"{number}.postgresql.sql").write_text(cluster.dump(url))


if __name__ == "__main__":
    main()
