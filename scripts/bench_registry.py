"""How fast a registry answers, as ratios and in the server's own time.

    .venv/bin/python scripts/bench_registry.py [--quick] [--skills 60000] [--requests 8000]

- GET /skills/{id} against a bare Starlette route that sends the same bytes: CPU time of the server for each
  request, same uvicorn settings, keep-alive, several clients. At least 0.5 of the bare route's speed.
- GET /search over the registry: CPU time of the server for a request, and the median of its own histogram
  for one client, both under 10 ms. With several clients a request also waits for those before it: a process
  answers one after the other, and more workers answer more at once.
- Memory of the server process: at most 200 MB; the most it had, while it made its index, is told, too.
- The first bytes of the whole list, which is streamed.

CPU time is measured, because the machine may have other work; what the server takes without requests is
taken off, which matters where requests wait for other work.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "scripts"))
from bench_find import make_texts

MIN_RATIO = 0.5
MAX_SEARCH = 0.010  # seconds
MAX_MEMORY = 200e6  # bytes
CLIENTS = 4
ROUNDS = 3

BARE = """
import sys
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from skillc.server.serve import create_server, listen, make_url
body = b"x" * int(sys.argv[1])
async def answer(request):
    return Response(body, media_type="application/json")
listener = listen("127.0.0.1", 0)
app = Starlette(routes=[Route("/skills/{id:path}", answer)])
create_server(app, lambda: print(make_url(listener), flush=True)).run([listener])
"""


def fill(folder: Path, count: int) -> None:
    """Publish many skills at once: straight into the store, as publishing one by one takes minutes."""
    from datetime import UTC, datetime

    from skillc.registry import SYSTEM, make_package, open_registry
    from skillc.registry.blobs import digest_of
    from skillc.registry.model import Version
    from skillc.registry.store import tables

    texts = make_texts(count)
    with open_registry(str(folder / "registry.db")) as registry:
        for start in range(0, count, 2000):
            with registry._store.write() as connection:
                for number in range(start, min(start + 2000, count)):
                    text = next(texts).encode()
                    package = make_package(f"team-{number % 100}/skill-{number:05}", {"SKILL.md": text})
                    now = datetime.now(UTC)
                    version = Version(
                        package.skill,
                        "1.0.0",
                        package.digest,
                        package.frontmatter,
                        digest_of(b""),
                        0,
                        now,
                        "x",
                    )
                    change = tables.Transaction(connection, SYSTEM, now)
                    number = change.record("publish", package.skill, "1.0.0")
                    tables.insert_version(connection, version, package.files, number)
                    tables.set_tag(connection, version, "latest")
                    path = folder / "blobs" / "sha256" / package.files[0].digest[7:9]
                    path.mkdir(parents=True, exist_ok=True)
                    (path / package.files[0].digest[7:]).write_bytes(text)


@contextmanager
def running(command: list[str], home: Path) -> Iterator[tuple[str, int, str]]:
    """A server: its host and port, its process ID, and the token that it printed."""
    env = {"HOME": str(home), "SKILLC_HOME": str(home), "PATH": os.environ["PATH"]}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            token = ""
            line = process.stdout.readline()
            while "http://" not in line:
                token = line.rpartition(" ")[2].strip()
                line = process.stdout.readline()
            yield line.rpartition("/")[2].strip(), process.pid, token
        finally:
            process.terminate()


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_share(pid: int) -> float:
    """Return what share of a core a process takes without requests: it follows the log meanwhile."""
    start, clock = cpu_seconds(pid), time.monotonic()
    time.sleep(2)
    return (cpu_seconds(pid) - start) / (time.monotonic() - clock)


def memory(pid: int, kind: str = "VmRSS") -> int:
    found = re.search(rf"{kind}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) * 1024


def load(address: str, path: Callable[[int], str], token: str, count: int, clients: int = CLIENTS) -> None:
    """Send requests from several clients, each on one connection."""

    def ask(client: int) -> None:
        connection = http.client.HTTPConnection(address)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        for number in range(count // clients):
            connection.request("GET", path(client * count + number), headers=headers)
            response = connection.getresponse()
            data = response.read()
            assert response.status == 200, data
        connection.close()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def get(address: str, path: str, token: str) -> bytes:
    connection = http.client.HTTPConnection(address)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    data = connection.getresponse().read()
    connection.close()
    return data


def measure_reading(address: str, pid: int, token: str, count: int, home: Path) -> float:
    """Return the speed of GET /skills/{id} as a share of that of a bare route."""
    path = "/skills/team-7/skill-00007"
    size = len(get(address, path, token))
    ratios = []
    with running([sys.executable, "-c", BARE, str(size)], home) as (bare, bare_pid, _):
        for _ in range(ROUNDS):
            times = []
            for where, process in ((bare, bare_pid), (address, pid)):
                load(where, lambda _: path, token, 200)
                rest = idle_share(process)
                start, clock = cpu_seconds(process), time.monotonic()
                load(where, lambda _: path, token, count)
                times.append(cpu_seconds(process) - start - rest * (time.monotonic() - clock))
            ratios.append(times[0] / times[1])
    print(f"GET /skills/{{id}}  {statistics.median(ratios):5.2f} of a bare Starlette route ({size} bytes)")
    return statistics.median(ratios)


def measure_search(address: str, pid: int, token: str, count: int) -> tuple[float, float]:
    """Return the CPU time of a search and the upper bound of the histogram's median."""
    rng = random.Random(4)
    texts = [text.split("description: ")[1].partition("\n")[0].split() for text in make_texts(count)]
    queries = ["+".join(rng.sample(words, 4)) for words in texts]
    before, start = read_buckets(address, token), cpu_seconds(pid)
    load(address, lambda number: f"/search?q={queries[number % count]}&limit=10", token, count, 1)
    seconds = (cpu_seconds(pid) - start) / count
    buckets = {limit: value - before.get(limit, 0) for limit, value in read_buckets(address, token).items()}
    total = buckets[float("inf")]
    median = min(limit for limit, value in buckets.items() if value * 2 >= total)
    print(f"GET /search        {seconds * 1000:.1f} ms of CPU, p50 up to {median * 1000:g} ms in the server")
    return seconds, median


def read_buckets(address: str, token: str) -> dict[float, int]:
    text = get(address, "/metrics", token).decode()
    rows = re.findall(r'skillc_request_seconds_bucket\{route="/search",le="([^"]+)"\} (\d+)', text)
    return {float(limit): int(value) for limit, value in rows}


def wait_for_index(address: str, token: str, count: int) -> None:
    start = time.monotonic()
    while b'"id":"' not in get(address, f"/search?q=skill-{count - 1:05}&limit=1", token):
        assert time.monotonic() - start < 600
        time.sleep(0.5)
    print(f"the index of {count} skills was ready after {time.monotonic() - start:.1f} s")


def measure_list(address: str, token: str, count: int) -> None:
    connection = http.client.HTTPConnection(address)
    start = time.perf_counter()
    connection.request("GET", "/skills", headers={"Authorization": f"Bearer {token}"})
    response = connection.getresponse()
    first = response.read(1)
    begin = time.perf_counter() - start
    data = first + response.read()
    assert data.count(b'"id":') == count
    print(f"GET /skills        {len(data) / 1e6:.1f} MB, first byte after {begin * 1000:.0f} ms")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--skills", type=int, default=0)
    parser.add_argument("--requests", type=int, default=0, help="for each measurement of reading")
    options = parser.parse_args()
    count = options.skills or (2000 if options.quick else 60_000)
    requests = options.requests or (2000 if options.quick else 8000)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        folder = home / ".skillc" / "registry"
        folder.mkdir(parents=True)
        fill(folder, count)
        command = [
            sys.executable,
            "-m",
            "skillc",
            "serve",
            "--port",
            "0",
            "--no-rate-limit",
            "--no-request-log",
        ]
        with running(command, home) as (address, pid, token):
            wait_for_index(address, token, count)
            ratio = measure_reading(address, pid, token, requests, home)
            search, median = measure_search(address, pid, token, requests // 10)
            measure_list(address, token, count)
            size = memory(pid)
            peak = memory(pid, "VmHWM")
            print(f"memory             {size / 1e6:.0f} MB after that, {peak / 1e6:.0f} MB at most")
    is_good = ratio >= MIN_RATIO and max(search, median) <= MAX_SEARCH and size <= MAX_MEMORY
    print("all limits hold" if is_good else "A LIMIT DOES NOT HOLD")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
