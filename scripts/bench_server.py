"""What `skc serve` holds after many requests: memory, descriptors and threads.

    .venv/bin/python scripts/bench_server.py [--quick]

50,000 mixed requests (5,000 with --quick), half of them on a connection of their own. The memory after a
fifth of them is the yardstick: the rest may add GROWTH bytes at most.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

REQUESTS = 50_000
SKILLS = 200
GROWTH = 8 << 20  # bytes
ROWS = 5


def create_library(root: Path) -> None:
    for number in range(SKILLS):
        folder = root / ".skillc" / "skills" / f"group-{number % 10}" / f"skill-{number}"
        folder.mkdir(parents=True)
        text = f"---\nname: skill-{number}\ndescription: What skill {number} is for\n---\n# Usage\n\nText.\n"
        (folder / "SKILL.md").write_text(text, encoding="utf-8")


def requests() -> Iterator[tuple[str, str, str | None]]:
    """Yield method, path and body of each request; searches and mistakes are never the same twice."""
    for number in itertools.count():
        yield "GET", "/skills?limit=20", None
        yield "GET", f"/skills/group-{number % 10}/skill-{number % 10}", None
        yield "GET", "/skill-collections", None
        yield "GET", f"/search?q=skill+{number}", None
        yield "GET", f"/skills/not/there-{number}", None
        yield "GET", f"/not-there-{number}", None
        yield "POST", "/turns", json.dumps({"message": f"/group-1/skill-1 go {number}"})
        yield "POST", "/turns", "not JSON"
        yield "GET", "/healthz", None


def send(port: int, count: int, source: Iterator[tuple[str, str, str | None]]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for number, (method, path, body) in enumerate(itertools.islice(source, count)):
        if number % 2:
            connection.close()  # the next request opens another one
        connection.request(method, path, body)
        connection.getresponse().read()
    connection.close()


def held(pid: int) -> tuple[int, int, int]:
    """Return bytes in memory, descriptors and threads of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    memory = int(fields["VmRSS"].split()[0]) * 1024
    return memory, len(os.listdir(f"/proc/{pid}/fd")), int(fields["Threads"])


def measure(root: Path, count: int) -> list[tuple[int, int, int]]:
    command = [sys.executable, "-m", "skillc", "serve", "--read-only", "--port", "0"]
    env = {"HOME": str(root / "home"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    (root / "home").mkdir()
    with subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline().rpartition(":")[2])
            rows, source = [], requests()
            for _ in range(ROWS):
                send(port, count // ROWS, source)
                rows.append(held(server.pid))
        finally:
            server.terminate()
    return rows


def main() -> int:
    count = REQUESTS // 10 if "--quick" in sys.argv else REQUESTS
    root = Path(tempfile.mkdtemp(prefix="skillc-bench-server-"))
    try:
        create_library(root)
        rows = measure(root, count)
    finally:
        shutil.rmtree(root)
    print(f"{'after requests':<15} {'memory':>9} {'descriptors':>12} {'threads':>8}")
    for number, (memory, descriptors, threads) in enumerate(rows, 1):
        size = f"{memory / (1 << 20):.1f}MiB"
        print(f"{number * count // ROWS:<15} {size:>9} {descriptors:>12} {threads:>8}")
    growth = rows[-1][0] - rows[0][0]
    print(f"\ngrowth {growth / (1 << 20):.1f}MiB, {growth / (count - count // ROWS):.0f} bytes a request")
    return 1 if growth > GROWTH else 0


if __name__ == "__main__":
    sys.exit(main())
