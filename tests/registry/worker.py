"""A process that publishes: to be run beside others, or killed in the middle.

Arguments: the store, the blobs, what to do, a name, how often. `publish` and `number` publish with numbers of
their own or without, as soon as a line comes. `die` reads steps from lines, and publishes in a child that is
killed before that step.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from skillc.errors import VersionExists
from skillc.registry import Registry, Role, make_package
from skillc.registry.blobs import Blobs, open_blobs
from skillc.registry.model import Caller, Permission
from skillc.registry.store import open_store, postgres, sqlite

MAIN = "---\nname: skill\ndescription: Text\n---\n# Text of {} {}\n"


def main(store: str, blobs: str, action: str, name: str, count: str) -> None:
    if action == "die":
        print("ready", flush=True)
        for line in sys.stdin:
            print(publish_and_die(store, blobs, int(line)), flush=True)
        return
    with Registry(open_store(store), open_blobs(blobs)) as registry:
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(int(count)):
            publish(registry, name, number, f"1.{number}.0" if action == "publish" else "")


def publish(registry: Registry, name: str, number: int, version: str) -> None:
    caller = Caller(name, (Permission(Role.PUBLISHER),))
    package = make_package("team/skill", {"SKILL.md": MAIN.format(name, number).encode(), "a": b"a"})
    try:
        print("published", registry.publish(caller, package, version=version).version, flush=True)
    except VersionExists:
        print("exists", version, flush=True)


def publish_and_die(store: str, blobs: str, step: int) -> str:
    """Publish in a child that is killed before a step; return whether it was."""
    child = os.fork()
    if child == 0:
        with Registry(open_store(store), open_blobs(blobs)) as registry:
            die_at(step)
            publish(registry, "child", step, "")
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "done", -signal.SIGKILL: "killed"}[status]


def die_at(step: int) -> None:
    """Kill this process with SIGKILL before a step: each statement and each blob is one."""
    steps = 0

    def count(function: Callable[..., object]) -> Callable[..., object]:
        def counted(*args: object) -> object:
            nonlocal steps
            steps += 1
            if steps > step:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args)

        return counted

    for kind, name in (
        (Blobs, "_put"),
        (sqlite.SqliteConnection, "execute"),
        (sqlite.SqliteConnection, "execute_many"),
        (postgres.PostgresConnection, "execute"),
        (postgres.PostgresConnection, "execute_many"),
    ):
        setattr(kind, name, count(getattr(kind, name)))


if __name__ == "__main__":
    main(*sys.argv[1:])
