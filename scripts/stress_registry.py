"""Publish to and read from several server processes on one PostgreSQL and one S3, while parts of it fail.

    .venv/bin/python scripts/stress_registry.py [--seconds 60] [--publishers 32] [--readers 200] [--servers 4]
        [--outage 10] [--trouble postgres,s3,kill]

Publishers publish the next versions of their own skills and of skills that all publish. In the middle of the
run PostgreSQL is stopped for some seconds, then S3, and then a server is killed and started again. It is
checked that

- every version that was answered with 201 is there, once, in every process, and as a whole;
- every version that is there was answered with 201, or not answered because of an outage: none is half there;
- each was seen by all processes within two seconds (outages apart);
- in an outage requests are 503 with Retry-After, and it goes on without a restart.

It needs PostgreSQL and versitygw, which scripts/setup gets.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.postgres import Cluster, running_cluster
from tests.support.s3 import BUCKET, S3, running_s3

SHARED = 4  # skills that all publishers publish
SEEN_WITHIN = 2.0  # seconds
RECOVERY = 8.0  # seconds after an outage that are not judged: connections are made again
PAUSE = 0.3  # seconds between two requests of a client


@dataclass
class Result:
    """What happened; clients add to it."""

    statuses: Counter[str] = field(default_factory=Counter)
    published: dict[tuple[str, str], float] = field(default_factory=dict)  # by skill and version: when
    uncertain: set[str] = field(default_factory=set)  # skills with a request that got no answer
    delays: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    outages: list[tuple[str, float, float]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_troubled(self, time_: float) -> bool:
        return any(start - 1 <= time_ <= end + RECOVERY for _, start, end in self.outages)

    def fault(self, text: str) -> None:
        with self.lock:
            self.faults.append(text)


class Client:
    """A client of one server, with one connection that is made again when it breaks."""

    def __init__(self, server: Server, result: Result) -> None:
        self._server = server
        self._result = result
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, value: object = None) -> tuple[int, bytes]:
        """Return status and body; 0 where the connection broke."""
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection(self._server.address, timeout=60)
            headers = {"Authorization": f"Bearer {self._server.token}", "Content-Type": "application/json"}
            body = None if value is None else json.dumps(value)
            self._connection.request(method, path, body, headers)
            response = self._connection.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            return 0, b""
        if response.status == 503 and not response.headers.get("Retry-After"):
            self._result.fault("503 without Retry-After")
        with self._result.lock:
            self._result.statuses[f"{method} {response.status}"] += 1
        return response.status, data

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Server:
    """A server process of its own, which can be killed and started again on the same port."""

    def __init__(self, home: Path, environment: dict[str, str], store: str) -> None:
        self._home = home
        self._environment = environment | {"SKILLC_STORE": store}
        self.address = ""
        self.token = ""
        self.start()

    def start(self) -> None:
        self._home.mkdir(parents=True, exist_ok=True)
        port = self.address.rpartition(":")[2] or "0"
        words = ["--port", port, "--blobs", f"s3://{BUCKET}/stress", "--no-rate-limit", "--no-request-log"]
        with (self._home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "skillc", "serve", *words],
                env=self._environment | {"HOME": str(self._home), "SKILLC_HOME": str(self._home)},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if ": skc_" in line:
            self.token = line.rpartition(" ")[2].strip()
            line = self.process.stdout.readline()
        assert "http://" in line, (line, (self._home / "log").read_text())
        self.address = line.strip().rpartition("/")[2]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(30)


def publish(number: int, servers: list[Server], result: Result, end: float) -> None:
    """Publish until the end: one's own skill, and now and then one that others publish, too."""
    chooser = random.Random(number)
    clients = [Client(server, result) for server in servers]
    round_ = 0
    while time.monotonic() < end:
        round_ += 1
        skill = f"shared/s{chooser.randrange(SHARED)}" if round_ % 4 == 0 else f"own/p{number}"
        name = skill.rpartition("/")[2]
        main = f"---\nname: {name}\ndescription: Published by many\n---\n# {name}\n\n{number} {round_}\n"
        value = {"id": skill, "skill_md": main, "files": {"data.txt": "eHh4" * chooser.randrange(1, 200)}}
        status, data = chooser.choice(clients).ask("PUT", f"/skills/{skill}", value)
        now = time.monotonic()
        if status == 201:
            fields = json.loads(data)
            key = fields["id"], fields["version"]
            with result.lock:
                if key in result.published:
                    result.faults.append(f"{key} was published twice")
                result.published[key] = now
            if round_ % 5 == 0:
                watch(key, clients, result, now)
        elif status in (0, 503):
            with result.lock:
                result.uncertain.add(skill)
        elif status != 409:
            result.fault(f"PUT {skill}: {status} {data[:200]!r}")
        time.sleep(PAUSE * chooser.random() * 2)
    for client in clients:
        client.close()


def watch(key: tuple[str, str], clients: list[Client], result: Result, start: float) -> None:
    """Measure how long it takes until all servers have a version."""
    waiting = list(clients)
    while waiting and time.monotonic() - start < 30:
        waiting = [c for c in waiting if c.ask("GET", f"/skills/{key[0]}?version={key[1]}")[0] != 200]
        if waiting:
            time.sleep(0.02)
    now = time.monotonic()
    with result.lock:
        if result.is_troubled(start) or result.is_troubled(now):
            return
        result.delays.append(now - start)
        if waiting:
            result.faults.append(f"{key} was not seen by all")


def read(number: int, servers: list[Server], result: Result, end: float) -> None:
    chooser = random.Random(-number)
    client = Client(servers[number % len(servers)], result)
    while time.monotonic() < end:
        skill = f"shared/s{chooser.randrange(SHARED)}"
        paths = (
            f"/skills/{skill}",
            f"/skills/{skill}/versions",
            "/skills?limit=20",
            "/search?q=published+many",
        )
        status, data = client.ask("GET", chooser.choice(paths))
        if status not in (0, 200, 404, 503):
            result.fault(f"GET: {status} {data[:200]!r}")
        time.sleep(PAUSE * (2 + 4 * chooser.random()))
    client.close()


@contextmanager
def outage(name: str, result: Result) -> Iterator[None]:
    start = time.monotonic()
    result.outages.append((name, start, start + 3600))
    try:
        yield
    finally:
        result.outages[-1] = name, start, time.monotonic()


def trouble(
    kinds: list[str], seconds: float, pause: float, parts: tuple[Cluster, S3, list[Server]], result: Result
) -> None:
    """Stop one part after the other, and start it again."""
    cluster, s3, servers = parts
    step = seconds / (len(kinds) + 1)
    start = time.monotonic()
    for number, kind in enumerate(kinds):
        time.sleep(max(0.0, start + step * (number + 0.6) - time.monotonic()))
        with outage(kind, result):
            if kind == "kill":
                servers[-1].kill()
                servers[-1].start()
            else:
                part = cluster if kind == "postgres" else s3
                part.stop()
                time.sleep(pause)
                part.start()


def check(servers: list[Server], result: Result) -> int:
    """Compare what every server has with what was published; return the number of versions."""
    count = 0
    every: list[dict[str, list[str]]] = []
    for server in servers:
        client = Client(server, result)
        versions: dict[str, list[str]] = {}
        for skill in json.loads(client.ask("GET", "/skills")[1])["skills"]:
            entries = json.loads(client.ask("GET", f"/skills/{skill['id']}/versions")[1])["versions"]
            versions[skill["id"]] = [entry["version"] for entry in entries]
        every.append(versions)
        client.close()
    if any(versions != every[0] for versions in every):
        result.fault("the servers have different versions")
    for skill, numbers in every[0].items():
        count += len(numbers)
        if len({*numbers}) != len(numbers):
            result.fault(f"{skill} has a version twice")
        unknown = [number for number in numbers if (skill, number) not in result.published]
        if unknown and skill not in result.uncertain:
            result.fault(f"{skill}: nobody was told of {unknown}")
    for skill, number in result.published:
        if number not in every[0].get(skill, ()):
            result.fault(f"{skill}@{number} is lost")
    check_archives(servers[0], every[0], result)
    return count


def check_archives(server: Server, versions: dict[str, list[str]], result: Result) -> None:
    """Read each archive: a version that is there is there as a whole."""
    client = Client(server, result)
    for skill, numbers in versions.items():
        for number in numbers:
            status, data = client.ask("GET", f"/skills/{skill}/archive.tar.gz?version={number}")
            if status != 200:
                result.fault(f"{skill}@{number}: archive {status}")
                continue
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                if archive.getnames() != ["SKILL.md", "data.txt"]:
                    result.fault(f"{skill}@{number}: {archive.getnames()}")
    client.close()


def kill_all(servers: list[Server]) -> None:
    for server in servers:
        server.kill()


def run(options: argparse.Namespace) -> Result:
    result = Result()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster = stack.enter_context(running_cluster())
        s3 = stack.enter_context(running_s3(folder / "s3"))
        environment = {"PATH": os.environ["PATH"]} | s3.environment
        environment |= {k: v for k, v in os.environ.items() if k.startswith("COV")}
        store = cluster.create_schema()
        servers: list[Server] = []
        stack.callback(kill_all, servers)
        for number in range(options.servers):
            servers.append(Server(folder / f"server{number}", environment, store))
            servers[-1].token = servers[0].token
        client = Client(servers[0], result)
        for number in range(SHARED):
            text = f"---\nname: s{number}\ndescription: Published by many\n---\nText\n"
            value = {"skill_md": text, "files": {"data.txt": ""}}
            status, data = client.ask("PUT", f"/skills/shared/s{number}", value)
            assert status == 201, data
            result.published[f"shared/s{number}", json.loads(data)["version"]] = time.monotonic()
        end = time.monotonic() + options.seconds
        threads = [
            *(
                threading.Thread(target=publish, args=(n, servers, result, end))
                for n in range(options.publishers)
            ),
            *(threading.Thread(target=read, args=(n, servers, result, end)) for n in range(options.readers)),
        ]
        kinds = [kind for kind in options.trouble.split(",") if kind]
        parts = (cluster, s3, servers)
        threads.append(
            threading.Thread(target=trouble, args=(kinds, options.seconds, options.outage, parts, result))
        )
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(SEEN_WITHIN)
        count = check(servers, result)
        for server in servers:
            if server.stop() != 0:
                result.fault("a server did not end with status 0")
        report(options, result, count)
    return result


def report(options: argparse.Namespace, result: Result, count: int) -> None:
    delays = sorted(result.delays)
    late = [delay for delay in delays if delay > SEEN_WITHIN]
    if late:
        result.faults.append(
            f"{len(late)} of {len(delays)} versions were seen late, the last after {late[-1]:.1f} s"
        )
    print(
        f"{options.servers} servers, {options.publishers} publishers, {options.readers} readers, "
        f"{options.seconds:g} s"
    )
    for name, start, stop in result.outages:
        print(f"  outage: {name}, {stop - start:.1f} s")
    print(f"  answers: {dict(sorted(result.statuses.items()))}")
    print(f"  versions: {len(result.published)} were answered with 201, {count} are there")
    if delays:
        print(
            f"  seen by all: p50 {delays[len(delays) // 2]:.2f} s, last {delays[-1]:.2f} s of {len(delays)}"
        )
    for fault in result.faults[:20]:
        print(f"  FAULT: {fault}")
    print("no fault" if not result.faults else f"{len(result.faults)} FAULTS")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--publishers", type=int, default=32)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--outage", type=float, default=10)
    parser.add_argument("--trouble", default="postgres,s3,kill")
    return 1 if run(parser.parse_args()).faults else 0


if __name__ == "__main__":
    sys.exit(main())
