"""Upgrade two servers of one PostgreSQL one after the other under requests, and count those that fail.

    .venv/bin/python scripts/roll_registry.py [--old <sources>] [--seconds 40] [--clients 8] [--abrupt]

`--old` is a folder with the `src` of an older version, from which both servers are started first; by default
they are of the same version. Each server is taken out of the rotation, stopped when its requests are
done, started from this version on the same store, and put back when `/readyz` says 200. With `--abrupt` it is
stopped while it is in the rotation, which shows what taking it out is for.

At the end every version that was answered with 201 must be in both servers, and in the well-known index.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from base64 import b64encode
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.postgres import running_cluster
from tests.support.registry import free_port, skill_md

READY_SECONDS = 60
PUBLISHES = 0.2  # the part of requests that publish


class Server:
    """`skc serve` on a port of its own, of one version or another."""

    def __init__(self, number: int, folder: Path, store: str) -> None:
        self.name, self.port = f"server {number}", free_port()
        self._home, self._store, self._blobs = folder / f"home{number}", store, folder / "blobs"
        self.running = 0  # requests that clients wait for
        self.is_in = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, sources: Path, token_file: Path) -> float:
        """Start it and wait until it is ready; return the seconds that took."""
        self._home.mkdir(exist_ok=True)
        start = time.monotonic()
        words = ["serve", "--port", str(self.port), "--blobs", str(self._blobs), "--no-rate-limit"]
        words += ["--no-request-log", "--admin-token-file", str(token_file)]
        variables = {"PATH": os.environ["PATH"], "HOME": str(self._home), "SKILLC_HOME": str(self._home)}
        variables |= {"PYTHONPATH": str(sources / "src"), "SKILLC_STORE": self._store}
        with (self._home / "log").open("ab") as log:
            command = [sys.executable, "-m", "skillc", *words]
            self._process = subprocess.Popen(command, env=variables, stdout=log, stderr=log, cwd=self._home)
        while True:
            try:
                if self.ask("GET", "/readyz", "")[0] == 200:
                    return time.monotonic() - start
            except OSError:
                pass
            if time.monotonic() > start + READY_SECONDS or self._process.poll() is not None:
                raise SystemExit((self._home / "log").read_text())
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            assert self._process.wait(30) == 0

    def ask(self, method: str, path: str, token: str, value: object = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            headers |= {"Content-Type": "application/json"} if value else {}
            connection.request(method, path, json.dumps(value) if value else None, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


class Load:
    """Clients that read and publish, and what became of their requests."""

    def __init__(self, servers: list[Server], token: str) -> None:
        self._servers, self._token = servers, token
        self._lock = threading.Lock()
        self.is_over = False
        self.statuses: Counter[str] = Counter()
        self.times: list[float] = []
        self.published: list[str] = []

    def run(self, number: int) -> None:
        count = 0
        while not self.is_over:
            count += 1
            self._send(f"team{number}/skill{count}")
            time.sleep(0.02)

    def _send(self, new: str) -> None:
        with self._lock:
            server = random.choice([each for each in self._servers if each.is_in])
            server.running += 1
            known = random.choice(self.published) if self.published else ""
        start = time.monotonic()
        publishes = not known or random.random() < PUBLISHES
        try:
            if publishes:
                text = skill_md(new.rpartition("/")[2])
                value = {"id": new, "skill_md": text, "files": {"a.txt": b64encode(new.encode()).decode()}}
                status, _ = server.ask("POST", "/skills", self._token, value)
            else:
                path = random.choice((f"/skills/{known}", "/skills?limit=20", "/search?q=skill", "/readyz"))
                status, _ = server.ask("GET", path, self._token)
            outcome = f"{'POST' if publishes else 'GET'} {status}"
        except (OSError, http.client.HTTPException) as error:
            outcome = f"{'POST' if publishes else 'GET'} {type(error).__name__}"
        with self._lock:
            server.running -= 1
            self.statuses[outcome] += 1
            self.times.append(time.monotonic() - start)
            if outcome == "POST 201":
                self.published.append(new)

    @property
    def failures(self) -> int:
        return sum(number for outcome, number in self.statuses.items() if outcome[-3:] not in ("200", "201"))


def replace(server: Server, token_file: Path, *, is_abrupt: bool) -> None:
    """Stop a server and start it from this version."""
    server.is_in = is_abrupt
    while server.running and not is_abrupt:
        time.sleep(0.01)
    server.stop()
    server.is_in = False
    seconds = server.start(ROOT, token_file)
    server.is_in = True
    print(f"{server.name}: of this version, ready after {seconds:.1f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--old", type=Path, default=ROOT)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--abrupt", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skillc-roll-")))
        store = stack.enter_context(running_cluster()).create_schema()
        servers = [Server(number, folder, store) for number in (1, 2)]
        for server in servers:
            stack.callback(server.stop)
            server.start(options.old.absolute(), folder / "token")
            server.is_in = True
        token = (folder / "token").read_text().strip()
        load = Load(servers, token)
        threads = [threading.Thread(target=load.run, args=(number,)) for number in range(options.clients)]
        for thread in threads:
            thread.start()
        pause = options.seconds / 3
        for server in servers:
            time.sleep(pause)  # after the first one, both versions serve at once
            replace(server, folder / "token", is_abrupt=options.abrupt)
        time.sleep(pause)
        load.is_over = True
        for thread in threads:
            thread.join()
        lost = check(servers, load, token)
    times = sorted(load.times)
    middle, late = times[len(times) // 2] * 1000, times[int(len(times) * 0.99)] * 1000
    print(f"{len(times)} requests, {load.failures} failed: {dict(load.statuses)}")
    print(
        f"{len(load.published)} versions published, {lost} not there; {middle:.0f} ms p50, {late:.0f} ms p99"
    )
    return 1 if load.failures or lost else 0


def check(servers: list[Server], load: Load, token: str) -> int:
    """Return how many of the published versions are missing in a server, or in its index."""
    missing = 0
    for server in servers:
        _, body = server.ask("GET", "/skills", token)
        there = {skill["id"] for skill in json.loads(body)["skills"]}
        named = 0
        for team in {skill.partition("/")[0] for skill in load.published}:
            _, body = server.ask("GET", f"/{team}/.well-known/agent-skills/index.json", token)
            named += len(json.loads(body)["skills"])
        missing += len(set(load.published) - there)
        print(
            f"{server.name}: {len(there)} skills, {named} of them in the indexes of their prefixes",
            flush=True,
        )
        missing += len(there) - named
    return missing


if __name__ == "__main__":
    sys.exit(main())
