"""Commands on another machine than this one: bubblewrap makes it, with other files and another user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from skillc.tools import sandbox
from skillc.tools.sandbox import Launch, bubblewrap
from tests.tools.levels import works

ORDINARY = os.geteuid() or 61234  # the number of a user that no system has
ROOT = 0
USERS = (ROOT, ORDINARY)

DRIVER = """
import json, os, sys
from skillc.errors import SkillcError
from skillc.tools import sandbox
from skillc.tools.process import run
from skillc.tools.sandbox import Launch
home, *launches = json.load(sys.stdin)
os.environ.pop("HOME", None)
os.environ.pop("SKILLC_HOME", None)
os.environ |= home
for launch in launches:
    lacking = [line for line in sandbox.explain() if line.startswith(launch["sandbox"] + ": ")]
    if lacking:
        print(json.dumps({"skip": lacking[0]}))
        continue
    try:
        print(json.dumps(run(Launch(**launch | {"argv": tuple(launch["argv"])})).as_json()))
    except SkillcError as error:
        print(json.dumps({"output": "", "success": False, "error": str(error)}))
"""


class Machine:
    """This machine with the account of `user`, whose home directory is `home`, and other mounts."""

    def __init__(self, user: int, home: Path, *options: str) -> None:
        works(sandbox.BUBBLEWRAP)
        if os.geteuid() != 0 and user != os.geteuid():
            pytest.skip("only root can become another user")
        self.user = user
        self.home = home
        self.accounts = home.parent / "passwd"
        self.options = options

    def own(self, *paths: Path) -> None:
        """Give files and folders to the user."""
        for path in paths:
            for entry in (path, *path.rglob("*")):
                os.chown(entry, self.user, self.user, follow_symlinks=False)

    def argv(self) -> list[str]:
        """The command that starts Python there."""
        self.accounts.write_text(f"person:x:{self.user}:{self.user}::{self.home}:/bin/sh\n")
        argv = [str(bubblewrap.find_bubblewrap()), "--dev-bind", "/", "/"]
        if closed := closed_folders(sys.base_prefix):  # the interpreter of these tests may be root's alone
            argv += ["--perms", "0755", "--tmpfs", closed[0]]
            for folder in closed[1:]:
                argv += ["--perms", "0755", "--dir", folder]
            argv += ["--ro-bind", sys.base_prefix, sys.base_prefix]
        argv += ["--ro-bind", str(self.accounts), "/etc/passwd", *self.options]
        change = ["--reuid", str(self.user), "--regid", str(self.user), "--clear-groups"]
        if self.user != os.geteuid():
            argv += ["setpriv", *change, "--inh-caps=-all", "--bounding-set=-all"]
        return [*argv, sys.executable]

    def run(self, *launches: Launch, home: str | None = None, **env: str) -> list[dict[str, Any]]:
        """Run commands, and return their envelopes. HOME of the caller is `home`, or unset."""
        variables = env | ({} if home is None else {"HOME": home})
        for launch in launches:
            assert launch.env.get("HOME") == home
        entries = [asdict(launch) | {"env": dict(launch.env)} for launch in launches]
        result = subprocess.run(
            [*self.argv(), "-c", DRIVER],
            input=json.dumps([variables, *entries]),
            capture_output=True,
            text=True,
            check=False,
            env={name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            cwd="/",
        )
        assert result.returncode == 0, result.stderr
        envelopes = [json.loads(line) for line in result.stdout.splitlines()]
        for envelope in envelopes:
            if "skip" in envelope:
                pytest.skip(envelope["skip"])
        return envelopes


def closed_folders(path: str) -> list[str]:
    """The folders on the way to a path, from the first on that other users can't enter."""
    parents = [*reversed(Path(path).parents)]
    closed = [number for number, folder in enumerate(parents) if not folder.stat().st_mode & 0o001]
    return [str(folder) for folder in parents[closed[0] :]] if closed else []
