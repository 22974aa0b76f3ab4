"""`skc completion`: scripts for bash, zsh and fish, which ask `skc __complete` for candidates."""

from __future__ import annotations

import os

from skillc.cli import show
from skillc.cli.lines import NEVER, Line
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc completion

<shell> bash|zsh|fish  bash, zsh or fish.

$ eval "$(skc completion bash)"
$ skc completion zsh > ~/.zfunc/_skc
$ skc completion fish > ~/.config/fish/completions/skc.fish
""")


def run(arguments: Arguments) -> int:
    shell = arguments.text("shell")
    path = os.path.join(os.path.dirname(__file__), "..", "shells", f"skc.{shell}")
    with open(path, encoding="utf-8") as file:
        script = file.read()
    lines = [Line(script.removesuffix("\n"), breaks=NEVER)]
    return show(arguments, {"shell": shell, "script": script}, lines)
