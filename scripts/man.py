"""Write man pages from the help of commands: skc.1, skc-build.1 and so on. See scripts/man."""

from __future__ import annotations

import sys
from pathlib import Path

from skillc import __version__
from skillc.cli import load
from skillc.cli.help import TOPICS, format_topic, overview, page
from skillc.cli.summaries import SUMMARIES

ROOT = Path(__file__).resolve().parent.parent


def write_page(name: str, summary: str, text: str) -> str:
    """Return help as a man page: its titles become sections, all else stays as it is set."""
    lines = [f'.TH {name.upper()} 1 "" "skillc {__version__}"', ".SH NAME", rf"{name} \- {_escape(summary)}"]
    is_open = False
    for line in text.splitlines():
        if line.endswith(":") and line[:1].isupper() and " " not in line.strip(":").split(" ")[0]:
            lines += [".fi"] * is_open + [f".SH {_escape(line.strip(':').upper())}", ".nf"]
            is_open = True
        elif is_open or line:
            lines += [] if is_open else [".SH DESCRIPTION", ".nf"]
            is_open = True
            lines.append(_escape(line))
    return "\n".join([*lines, ".fi", ""])


def _escape(text: str) -> str:
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text.startswith((".", "'")) else text


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".cache" / "man" / "man1"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"skc": ("the toolchain and runtime for Agent Skills", overview())}
    pages |= {f"skc-{name}": (summary, page(load(name)[0])) for name, summary in SUMMARIES.items()}
    pages |= {f"skc-help-{name}": (title, format_topic(name)) for name, (title, _) in TOPICS.items()}
    for name, (summary, lines) in pages.items():
        (folder / f"{name}.1").write_text(write_page(name, summary, "\n".join(lines)), encoding="utf-8")
    print(f"Wrote {len(pages)} pages to {folder}")


if __name__ == "__main__":
    main()
