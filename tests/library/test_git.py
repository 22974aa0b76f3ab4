"""Skills in git repositories: real ones, made with git and served from disk and over HTTP on loopback."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from dulwich.objects import Blob, ObjectID, Tree

from skillc.errors import InvalidConfiguration, RepositoryUnavailable, SkillNotFound
from skillc.library.sources import GitSkillSource
from skillc.library.sources.source import SkillScope, SkillSource
from skillc.remotes.git import GitRef, GitSkillConfig, HttpsToken, SshKey, tree as files
from skillc.remotes.git.transport import Watchdog
from skillc.skills import SkillId
from tests.conftest import World
from tests.support.cases import each
from tests.support.git import Handler, Origin, Server, serving
from tests.support.skills import run

TOKEN = "ghp_5ecretNeverToBeSeen"


def ids(source: SkillSource) -> list[str]:
    return [str(skill.id) for skill in run(source.list())]


def folder_of(source: GitSkillSource, name: str = "pdf") -> Path:
    return Path(str(run(source.directory(SkillId(name)))))


def age(source: GitSkillSource) -> None:
    """Let the refresh interval pass."""
    file = Path(source.config.directory()) / "state.json"
    state = json.loads(file.read_text())
    file.write_text(json.dumps(state | {"attempted": state["attempted"] - 1000}))


def unavailable(source: SkillSource) -> str:
    with pytest.raises(RepositoryUnavailable) as failure:
        run(source.list())
    return failure.value.message


def script(cache: Path, url: str) -> list[str]:
    """A process that lists the skills of a repository."""
    text = f"""
import asyncio
from skillc.library.sources import GitSkillSource
from skillc.remotes.git import GitSkillConfig
source = GitSkillSource(GitSkillConfig({url!r}, cache_dir={str(cache)!r}))
print(*[skill.id for skill in asyncio.run(source.list())], source.status)
"""
    return [sys.executable, "-c", text]


# What it gives.


@pytest.mark.parametrize("how", ["file", "path", "http"])
def test_skills_of_a_repository(origin: Origin, server: Server, cache: Path, how: str) -> None:
    """[LIB: GitSkillSource (feature-gated)] cloned at the first question, and then as a folder is."""
    url = {"file": f"file://{origin.bare}", "path": str(origin.bare), "http": server.url}[how]
    source = GitSkillSource(GitSkillConfig(url, cache_dir=cache))
    assert isinstance(source, SkillSource)
    assert not cache.exists()
    assert server.requests == []
    assert ids(source) == ["extraction/email", "pdf"]
    assert run(source.list())[0].scope is SkillScope.REMOTE
    assert run(source.load(SkillId("pdf"))).body == "Body.\n"
    assert [(c.path, c.count, c.description) for c in run(source.collections())] == [
        ("extraction", 1, "Taking things out")
    ]
    folder = folder_of(source)
    assert (folder / "SKILL.md").is_file()
    assert not list(cache.rglob(".git")) + list(cache.rglob("*.pack")) + list(cache.rglob("*.tmp"))
    assert (source.kind, source.status, source.error, source.quarantined) == ("git", "ok", None, 0)
    with pytest.raises(SkillNotFound):
        run(source.load(SkillId("nope")))


def test_default_cache(origin: Origin, world: World) -> None:
    """[D29] below the home, by a hash of URL and ref, and for its owner alone."""
    for ref in (GitRef.branch("main"), GitRef.tag("v1")):
        assert ids(GitSkillSource(GitSkillConfig(str(origin.bare), ref))) == ["extraction/email", "pdf"]
    kept = list((world.home / ".skillc" / "cache" / "repositories").iterdir())
    assert len(kept) == 2
    assert {folder.stat().st_mode & 0o777 for folder in kept} == {0o700}


def test_skills_root_and_strict(origin: Origin, cache: Path) -> None:
    """[LIB: GitSkillSource (feature-gated)] [D25] a folder of the repository, which may be a skill by its
    name; strict as in a folder.
    """
    source = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache, skills_root="extraction"))
    assert ids(source) == ["email"]
    source = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache, skills_root="a/b"))
    assert "skills_root 'a/b' not found in repo" in unavailable(source)
    origin.write("Bad_Name/SKILL.md", "---\nname: Bad_Name\ndescription: Text\n---\n")
    origin.push()
    lax = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache / "later"))
    strict = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache / "later", strict=True))
    assert (len(ids(lax)), lax.quarantined) == (3, 0)
    assert (len(ids(strict)), strict.quarantined) == (2, 1)
    assert "breaks the Agent Skills format" in run(strict.diagnostics())[-1].message
    origin.write("SKILL.md", "---\nname: skills\ndescription: One skill\n---\n")
    origin.push()
    assert ids(GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache / "last"))) == ["skills"]


# Refs and refreshing.


def test_branch_is_refreshed_when_its_time_has_come(origin: Origin, server: Server, cache: Path) -> None:
    """[LIB: GitSkillSource (feature-gated)] not before; and nothing is fetched where nothing is new."""
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache))
    assert ids(source) == ["extraction/email", "pdf"]
    origin.push("new")
    asked = len(server.requests)
    assert ids(source) == ["extraction/email", "pdf"]
    assert len(server.requests) == asked
    age(source)
    assert ids(source) == ["extraction/email", "new", "pdf"]
    assert server.fetches == 2
    age(source)
    assert ids(source) == ["extraction/email", "new", "pdf"]
    assert server.fetches == 2


def test_refresh_by_hand(origin: Origin, cache: Path) -> None:
    """[LIB: GitSkillSource (feature-gated)] [D29] an infinite interval never looks, unless told to; a
    checkout from the future is refreshed.
    """
    source = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache, refresh_interval=float("inf")))
    ids(source)
    assert run(source.refresh()) is False
    origin.push("new")
    age(source)
    assert "new" not in ids(source)
    assert run(source.refresh()) is True
    assert "new" in ids(source)
    source = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache))
    ids(source)
    origin.push("newer")
    state = Path(source.config.directory()) / "state.json"
    state.write_text(json.dumps(json.loads(state.read_text()) | {"attempted": time.time() + 9999}))
    assert "newer" in ids(source)


@pytest.mark.slow
def test_tags_and_commits_are_never_fetched_again(origin: Origin, server: Server, cache: Path) -> None:
    """[D29] not when the time has passed, not by a new process, not when the remote's tag has moved.

    What the last checkout has, and its commit, is known without the remote.
    """
    commit = origin.git("rev-parse", "HEAD")
    origin.git("tag", "light")
    origin.push("new")
    refs = [GitRef.tag("v1"), GitRef.tag("light"), GitRef.commit(commit.upper()), GitRef.commit(commit[:8])]
    configs = [GitSkillConfig(server.url, ref, cache_dir=cache, refresh_interval=0) for ref in refs]
    sources = [GitSkillSource(config) for config in configs]
    for source in sources:
        assert (run(source.cached_count()), source.commit) == (None, None)
        assert ids(source) == ["extraction/email", "pdf"]
        assert (run(source.cached_count()), source.commit) == (2, commit)
    origin.git("tag", "-f", "v1")
    origin.git("tag", "-f", "light")
    origin.push("newer")
    asked = len(server.requests)
    for source in sources:
        age(source)
    for source in (*sources, *map(GitSkillSource, configs)):
        assert run(source.cached_count()) == 2
        assert ids(source) == ["extraction/email", "pdf"]
        assert run(source.refresh()) is False
    assert len(server.requests) == asked


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0", "2"])
def test_depths(
    origin: Origin, server: Server, cache: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[LIB: GitSkillSource (feature-gated)] shallow or whole, with git's old protocol and the new one."""
    for number in range(3):
        origin.push(f"number-{number}")
    if version == "0":
        old_protocol(monkeypatch)
    for number, (depth, url) in enumerate(product((None, 1, 2), (server.url, str(origin.bare)))):
        config = GitSkillConfig(url, cache_dir=cache / str(number), depth=depth, refresh_interval=0)
        source = GitSkillSource(config)
        assert len(ids(source)) == 5 + number
        origin.push(f"more-{number}")
        assert f"more-{number}" in ids(source)


def old_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server be one that knows no more than git's protocol of old."""
    backend = Handler._backend

    def without(self: Handler, body: bytes, fault: str) -> None:
        del self.headers["Git-Protocol"]
        backend(self, body, fault)

    monkeypatch.setattr(Handler, "_backend", without)


def test_commit_that_no_ref_leads_to(
    origin: Origin, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[D29] [LIB: GitSkillSource (feature-gated)] a commit is asked for by its ID; where refs alone are
    given, all history is fetched.
    """
    commit = origin.push("old")
    origin.git("commit", "-q", "--amend", "-m", "amended")
    origin.push("new")
    assert "old" in ids(GitSkillSource(GitSkillConfig(server.url, GitRef.commit(commit), cache_dir=cache)))
    assert server.fetches == 1
    commit = origin.git("rev-parse", "v1^{commit}")
    old_protocol(monkeypatch)
    source = GitSkillSource(GitSkillConfig(server.url, GitRef.commit(commit), cache_dir=cache))
    assert ids(source) == ["extraction/email", "pdf"]


@pytest.mark.parametrize("url", ["file", "http"])
def test_missing_refs(origin: Origin, server: Server, cache: Path, url: str) -> None:
    """[LIB: GitSkillSource (feature-gated)] are told by name."""
    address = server.url if url == "http" else str(origin.bare)
    for ref in (
        GitRef.branch("nope"),
        GitRef.tag("nope"),
        GitRef.commit("12" * 20),
        GitRef.commit("1234567"),
    ):
        source = GitSkillSource(GitSkillConfig(address, ref, cache_dir=cache))
        assert unavailable(source).endswith(f"unavailable: ref '{ref.name}' not found in repo")
    GitSkillSource(GitSkillConfig(address, GitRef.branch("ma"), cache_dir=cache))


def test_force_push_is_followed(origin: Origin, server: Server, cache: Path) -> None:
    """[D29] the new checkout is swapped in whole; whoever reads the old one goes on."""
    origin.skill("pdf", "First.")
    origin.push()
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache))
    old = folder_of(source)
    origin.git("reset", "-q", "--hard", "HEAD~1")
    origin.git("rm", "-rq", "extraction")
    origin.skill("pdf", "Other.")
    origin.push()
    age(source)
    assert ids(source) == ["pdf"]
    assert run(source.load(SkillId("pdf"))).body == "Other.\n"
    assert "First." in (old / "SKILL.md").read_text()


def test_old_checkouts_go_after_an_hour(origin: Origin, cache: Path) -> None:
    """[D29] and not the one that was current until now."""
    source = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache))
    folders = []
    for name in ("one", "two", "three"):
        folders.append(folder_of(source).parents[1])
        os.utime(folders[-1], (1, 1))
        origin.push(name)
        age(source)
        ids(source)
        os.utime(folders[-1], (1, 1))
    assert [folder.exists() for folder in folders] == [False, False, True]


# Failures.


def test_vanished_remote(
    origin: Origin, server: Server, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """[D29] the last good checkout is served with a warning, and tried again an interval later."""
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache))
    ids(source)
    server.fault = "503"
    age(source)
    with caplog.at_level(logging.WARNING, "skillc.library"):
        assert ids(source) == ["extraction/email", "pdf"]
    assert "the server answered HTTP 503; its last good checkout is used" in caplog.text
    assert source.status == "stale"
    assert "git fetch failed: the server answered HTTP 503" in str(source.error)
    assert run(source.diagnostics())[-1].message == source.error
    asked = len(server.requests)
    assert ids(source) == ["extraction/email", "pdf"]
    assert len(server.requests) == asked
    server.fault = ""
    origin.push("new")
    age(source)
    assert "new" in ids(source)
    assert not [told for told in run(source.diagnostics()) if told.code == "E200"]


def test_clone_that_fails(origin: Origin, cache: Path, tmp_path: Path) -> None:
    """[LIB: GitSkillSource (feature-gated)] an error, until one succeeds."""
    url = str(tmp_path / "later.git")
    source = GitSkillSource(GitSkillConfig(url, cache_dir=cache))
    assert unavailable(source) == (
        f"repository '{url}' unavailable: git clone failed: there is no such folder"
    )
    origin.bare.rename(url)
    assert ids(source) == ["extraction/email", "pdf"]
    closed = GitSkillSource(GitSkillConfig("http://127.0.0.1:1/x", cache_dir=cache))
    assert unavailable(closed).endswith("git clone failed: Connection refused")
    unknown = GitSkillSource(GitSkillConfig("https://nowhere.invalid/x", cache_dir=cache))
    assert "git clone failed: can't reach nowhere.invalid (" in unavailable(unknown)


@pytest.mark.slow
@each("fault", ["hang", "drip", "stall"])
def test_server_that_hangs(origin: Origin, server: Server, cache: Path, fault: str) -> None:
    """[D29] is given up, before it answers, within its headers and within the pack."""
    origin.write("large.bin", os.urandom(300_000))
    origin.push()
    server.end.clear()
    server.fault = fault
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache / fault, time_out=0.3))
    threads = threading.active_count()
    assert unavailable(source).endswith("git clone failed: no answer in 0.3 s")
    assert threading.active_count() <= threads + 1  # the server's own
    server.fault = ""
    server.end.set()
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache / fault))
    assert ids(source) == ["extraction/email", "pdf"]


@pytest.mark.slow
@each("fault", ["cut", "html", "500"])
def test_server_that_is_broken(origin: Origin, server: Server, cache: Path, fault: str) -> None:
    """[D29] is an error, nothing of it stays, and a later attempt is as good as a first one."""
    origin.write("large.bin", os.urandom(300_000))
    origin.push()
    server.fault = fault
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache / fault, time_out=5))
    assert "git clone failed: " in unavailable(source)
    assert [path.name for path in Path(source.config.directory()).iterdir()] == ["lock"]
    server.fault = ""
    assert ids(source) == ["extraction/email", "pdf"]


def test_server_that_lies(origin: Origin, server: Server, cache: Path, tmp_path: Path) -> None:
    """[D29] an ID that is a path leads nowhere."""
    (tmp_path / "x" / "skills" / "trap").mkdir(parents=True)
    (tmp_path / "x" / "skills" / "trap" / "SKILL.md").write_text("---\nname: t\ndescription: T\n---\n")
    server.fault = "lie"
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache / "deeper"))
    assert unavailable(source).endswith("git clone failed: the server sent an ID that is none")


def test_sha256_repository(cache: Path, tmp_path: Path) -> None:
    """[D29] is refused in words."""
    made = Origin(tmp_path)
    made.git("init", "-q", "--object-format=sha256", "-b", "main", str(made.work), at=tmp_path)
    made.skill("pdf")
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "change")
    source = GitSkillSource(GitSkillConfig(str(made.work), cache_dir=cache))
    assert unavailable(source).endswith("git clone failed: sha256 repositories are not supported")


def test_damaged_cache(origin: Origin, cache: Path) -> None:
    """[D29] is made again."""
    source = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache))
    ids(source)
    state = Path(source.config.directory()) / "state.json"
    for damage in ("", "[]", '{"commit": "../../etc"}', '{"commit": 1, "fetched": null}', "[" * 100_000):
        state.write_text(damage)
        assert ids(source) == ["extraction/email", "pdf"]
    for path in Path(source.config.directory()).glob("*/skills"):
        path.rename(path.with_name("gone"))
    assert ids(source) == ["extraction/email", "pdf"]


# Many at once.


def test_fifty_threads_make_one_fetch(origin: Origin, server: Server, cache: Path) -> None:
    """[D29] at the moment of expiry, and at the first clone."""
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache))
    barrier = threading.Barrier(50)

    def ask(_: int) -> list[str]:
        barrier.wait()
        return ids(source)

    with ThreadPoolExecutor(50) as threads:
        assert all(answer == ["extraction/email", "pdf"] for answer in threads.map(ask, range(50)))
        assert server.fetches == 1
        asked = len(server.requests)
        origin.push("new")
        age(source)
        answers = list(threads.map(ask, range(50)))
    assert all(answer[-1] == "pdf" for answer in answers)
    assert "new" in ids(source)
    assert server.fetches == 2
    assert len(server.requests) == asked + 3


@pytest.mark.slow
def test_threads_share_a_failure(origin: Origin, server: Server, cache: Path) -> None:
    """[D29] those that wait for a clone that fails don't each try it again."""
    server.fault = "hang"
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache, time_out=0.8))
    barrier = threading.Barrier(20)

    def ask(_: int) -> str:
        barrier.wait()
        return unavailable(source)

    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(ask, range(20)))
    assert len(set(answers)) == 1
    assert len(server.requests) == 1


@pytest.mark.slow
def test_two_processes_clone_at_once(origin: Origin, server: Server, cache: Path) -> None:
    """[D29] one clones, the other waits for it; so it is with a refresh."""
    words = script(cache, server.url)
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in running] == ["extraction/email pdf ok\n"] * 2
    assert server.fetches == 1
    asked = len(server.requests)
    origin.push("new")
    age(GitSkillSource(GitSkillConfig(server.url, cache_dir=cache)))
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in running] == ["extraction/email new pdf ok\n"] * 2
    assert len(server.requests) == asked + 3


@pytest.mark.slow
def test_killed_while_cloning(origin: Origin, server: Server, cache: Path) -> None:
    """[D29] the next one clones; what the killed one left is swept away when it is old."""
    origin.write("large.bin", os.urandom(300_000))
    origin.push()
    server.fault = "stall"
    process = subprocess.Popen(script(cache, server.url))
    assert server.halfway.wait(20)
    process.send_signal(signal.SIGKILL)
    process.wait()
    server.fault = ""
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache))
    assert ids(source) == ["extraction/email", "pdf"]
    [left] = Path(source.config.directory()).glob(".*.tmp")
    os.utime(left, (1, 1))
    age(source)
    ids(source)
    assert not left.exists()


@pytest.mark.slow
def test_readers_during_swaps(origin: Origin, cache: Path) -> None:
    """[D29] meet one commit or another, never a mixture or nothing."""
    origin.skill("pdf", "0")
    origin.write("pdf/other.txt", "0")
    origin.push()
    source = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache, refresh_interval=0))
    ids(source)
    done = threading.Event()

    def read() -> int:
        count = 0
        while not done.is_set() or not count:
            folder = folder_of(source)
            body = (folder / "SKILL.md").read_text().splitlines()[-1]
            assert body == (folder / "other.txt").read_text()
            count += 1
        return count

    with ThreadPoolExecutor(4) as threads:
        readers = [threads.submit(read) for _ in range(4)]
        for number in range(1, 8):
            origin.skill("pdf", str(number))
            origin.write("pdf/other.txt", str(number))
            origin.push()
        done.set()
        assert all(reader.result() for reader in readers)
    assert run(source.load(SkillId("pdf"))).body == "7\n"


# What must not happen.


BAD_REFS = (
    "-main|--upload-pack=x|a..b||a b|a\nb|a\0b|a~1|a^|a:b|a?|a*|a[b|a\b|/a|a/|a//b|.a|a/.b|a.lock|a.lock/b"
)


@each("name", [*BAD_REFS.split("|"), "a.", "@", "a@{1}", "x" * 256, "\udcff", "a\\b"])
def test_hostile_refs(name: str) -> None:
    """[D29] refs that look like options, or that git would not take, are refused before anything is done."""
    for make in (GitRef.branch, GitRef.tag, GitRef.commit):
        with pytest.raises(InvalidConfiguration):
            make(name)


def test_commits_are_hexadecimal(tmp_path: Path) -> None:
    """[D29] [LIB: GitSkillSource (feature-gated)] commits have seven to forty digits; names any script; a
    cache can be written.
    """
    assert GitRef.commit("A1B2C3D4").name == "a1b2c3d4"
    for name in ("main", "123456", "g" * 40, "a" * 41, "HEAD"):
        with pytest.raises(InvalidConfiguration):
            GitRef.commit(name)
    assert GitRef.branch("feature/größe-1.0").name == "feature/größe-1.0"
    with pytest.raises(InvalidConfiguration):
        GitRef("remote", "main")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidConfiguration, match="can't be written"):
        GitSkillSource(GitSkillConfig("https://host/x", cache_dir=tmp_path / "file" / "below"))


BAD_ADDRESSES = (
    "|-x|--upload-pack=x|ext::sh -c id|fd::3|foo::bar|git://host/x|ftp://host/x|ext://x|a\nb|https://"
    "|https://host/x?y=1|https://host/x#y|https://host:port/x|https://[::1/x|file://elsewhere/x|ssh://host"
    "|ssh://-oProxyCommand=x/y|-oProxyCommand=x:y|git@-h:x|-u@host:x|git@host:-x|git@host:|ssh://a b@host/x"
)


@each("url", BAD_ADDRESSES.split("|"))
def test_hostile_addresses(url: str) -> None:
    """[LIB: GitSkillSource (feature-gated)] remote helpers, options and other schemes are refused."""
    with pytest.raises(InvalidConfiguration):
        GitSkillConfig(url)


def test_addresses() -> None:
    """[LIB: GitSkillSource (feature-gated)] what they are taken for."""
    parts = {
        url: (r.scheme, r.username, r.host, r.port, r.path, r.name)
        for url in (
            *("https://github.com/company/skills.git", "ssh://git@host:2222/~/a/My_Skills.git"),
            *("git@github.com:org/skills.git", "host:skills", "file:///a%20b/c", "/a:b/c.git/"),
        )
        for r in [GitSkillConfig(url).remote()]
    }
    assert list(parts.values()) == [
        ("https", None, "github.com", None, "/company/skills.git", "skills"),
        ("ssh", "git", "host", 2222, "/~/a/My_Skills.git", "my-skills"),
        ("ssh", "git", "github.com", None, "org/skills.git", "skills"),
        ("ssh", None, "host", None, "skills", "skills"),
        ("file", None, "", None, "/a b/c", "c"),
        ("file", None, "", None, "/a:b/c.git", "c"),
    ]


@each(
    "settings",
    [
        {"skills_root": "../x"},
        {"skills_root": "/etc"},
        {"skills_root": "a/../../b"},
        {"skills_root": "a\\..\\b"},
        {"depth": 0},
        {"refresh_interval": -1.0},
        {"refresh_interval": float("nan")},
        {"time_out": 0.0},
        {"auth": SshKey("key")},
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any]) -> None:
    """[LIB: GitSkillSource (feature-gated)] are refused at construction."""
    with pytest.raises(InvalidConfiguration):
        GitSkillConfig("https://host/x", **settings)


def test_links(origin: Origin, cache: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """[D29] one that stays in the repository becomes what it leads to; one that leads out is left out."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "SKILL.md").write_text("---\nname: o\ndescription: Secret\n---\n")
    links = {
        "good": "pdf",
        "extraction/file.md": "../pdf/SKILL.md",
        "absolute": str(tmp_path / "outside"),
        "up": "../../../../outside",
        "far": "../" * 30 + "etc",
        "one": "extraction/email",
        "through": "one/../../../../..",
        "round": "round",
        "nowhere": "not/there",
    }
    for path, target in links.items():
        (origin.work / path).symlink_to(target)
    origin.push()
    source = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache))
    with caplog.at_level(logging.WARNING, "skillc.library"):
        assert ids(source) == ["extraction/email", "good", "one", "pdf"]
    root = folder_of(source).parent
    assert not any(path.is_symlink() for path in root.rglob("*"))
    assert (root / "extraction" / "file.md").read_text() == (root / "pdf" / "SKILL.md").read_text()
    assert "the link 'up' leads out of the repository" in caplog.text


HOSTILE = [b"..", b".", b".git", b".GIT", b".git ", b"git~1", b"a\\b", b"..\\x", ".g\u200cit".encode()]


@pytest.mark.slow
@each("name", HOSTILE)
def test_hostile_names(origin: Origin, cache: Path, name: bytes) -> None:
    """[D29] a repository with a file name that is a trap is refused, and nothing is written."""
    blob, tree, above = Blob.from_string(b"trap"), Tree(), Tree()
    tree.add(name, 0o100644, blob.id)
    above.add(b"folder", 0o040000, tree.id)
    for top in (tree, above):
        origin.push_tree(top, blob, tree)
        source = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache))
        assert "git clone failed: unsafe file name" in unavailable(source)
        assert [path.name for path in Path(source.config.directory()).iterdir()] == ["lock"]


def test_submodules_and_odd_trees(origin: Origin, cache: Path) -> None:
    """[D29] submodules are ignored; an object that is not what the tree says is refused."""
    blob = Blob.from_string(b"---\nname: a\ndescription: A\n---\n")
    skill = Tree()
    skill.add(b"SKILL.md", 0o100755, blob.id)
    tree = Tree()
    tree.add(b"a", 0o040000, skill.id)
    tree.add(b"module", 0o160000, ObjectID(b"1" * 40))
    origin.push_tree(tree, blob, skill)
    source = GitSkillSource(GitSkillConfig(str(origin.bare), cache_dir=cache, refresh_interval=0))
    assert ids(source) == ["a"]
    folder = folder_of(source, "a")
    assert os.access(folder / "SKILL.md", os.X_OK)
    assert not (folder.parent / "module").exists()
    tree.add(b"a", 0o040000, blob.id)
    origin.push_tree(tree)
    assert ids(source) == ["a"]
    assert source.status == "stale"


@pytest.mark.slow
def test_too_much(origin: Origin, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D29] what is sent, what it unpacks to and how many files there are is bounded."""

    def complaint() -> str:
        config = GitSkillConfig(server.url, cache_dir=cache, max_bytes=1 << 20)
        return unavailable(GitSkillSource(config)).partition("git clone failed: ")[2]

    origin.write("large", os.urandom(2 << 20))
    origin.push()
    assert complaint() == "the repository is over 1 MiB"
    origin.write("large", b"0" * (2 << 20))
    origin.push()
    assert complaint() == "a file is over 1 MiB"
    for number in range(3):
        origin.write(f"large{number}", b"0" * 500_000 + bytes([number]))
    (origin.work / "large").unlink()
    origin.push()
    assert complaint() == "the files are too large"
    monkeypatch.setattr(files, "MAX_FILES", 3)
    assert complaint() == "the repository has over 3 files"


# Secrets, and what is needed.


def test_redirect_carries_no_token(origin: Origin, server: Server, cache: Path) -> None:
    """[D24] a redirect to another host is followed if that was named, without the credentials."""
    host = f"127.0.0.1:{server.server_port}"
    with serving(Server(server.root)) as other:
        other.redirect = f"http://{host}"
        config = GitSkillConfig(other.url, cache_dir=cache, auth=HttpsToken(TOKEN))
        assert f'allow_hosts = ["{host}"]' in unavailable(GitSkillSource(config))
        assert server.requests == []
        source = GitSkillSource(replace(config, allow_hosts=(host,)))
        assert ids(source) == ["extraction/email", "pdf"]
    assert all(other.authorized)
    assert set(server.authorized) == {""}


def test_secrets_in_failures_are_hidden(server: Server, cache: Path) -> None:
    """[D24] also where a message of the server repeats them."""
    server.fault = "echo"
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache, auth=HttpsToken(TOKEN)))
    assert unavailable(source).endswith("git clone failed: no: Basic *** x-access-token:***")
    remote = GitSkillConfig(f"https://host/{'x'}", auth=HttpsToken("a b/c")).remote()
    pair = base64.b64encode(b"x-access-token:a b/c").decode()
    assert remote.hide(f"no: a b/c, a%20b%2Fc, {pair}") == "no: ***, ***, ***"
    with pytest.raises(InvalidConfiguration) as failure:
        SshKey("key", "hidden")
    assert "hidden" not in str(failure.value)
    with pytest.raises(InvalidConfiguration) as failure:
        GitSkillConfig("https://user:hidden@host:port/")
    assert "hidden" not in str(failure.value)


@pytest.mark.slow
def test_no_git_program_is_needed(origin: Origin, server: Server, cache: Path, tmp_path: Path) -> None:
    """[LIB: GitSkillSource (feature-gated)] it works with an empty PATH, over HTTP and on disk."""
    for number, url in enumerate((server.url, str(origin.bare))):
        done = subprocess.run(
            script(cache / str(number), url),
            env={"PATH": str(tmp_path / "empty"), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "extraction/email pdf ok\n"


def fake_ssh(folder: Path, text: str) -> None:
    folder.mkdir()
    program = folder / "ssh"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)


def test_ssh(origin: Origin, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[LIB: GitSkillSource (feature-gated)] by the program ssh, with the key, and without questions."""
    fake_ssh(tmp_path / "bin", f'echo "$@" > {tmp_path}/words\nfor last; do :; done\nexec sh -c "$last"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    config = GitSkillConfig(f"git@host:{origin.bare}", cache_dir=cache, auth=SshKey(tmp_path / "key"))
    source = GitSkillSource(config)
    assert ids(source) == ["extraction/email", "pdf"]
    words = (tmp_path / "words").read_text()
    assert "-o BatchMode=yes -o IdentitiesOnly=yes" in words
    assert f"-i {tmp_path / 'key'}" in words
    assert f"git@host git-upload-pack '{origin.bare}'" in words


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "echo 'git@host: Permission denied (publickey).' >&2; exit 255",
            "authentication failed: git@host: ",
        ),
        ("exec sleep 20", "no answer in 0.3 s"),
        (None, "ssh addresses need the program 'ssh', which is not installed"),
    ],
)
def test_ssh_that_fails(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, told: str
) -> None:
    """[LIB: GitSkillSource (feature-gated)] authentication, a time-out, no such program."""
    if text is not None:
        fake_ssh(tmp_path / "bin", text)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH'] if text else ''}")
    time_out = 0.3 if text == "exec sleep 20" else 20.0
    source = GitSkillSource(GitSkillConfig("ssh://git@host/x.git", cache_dir=cache, time_out=time_out))
    assert f"git clone failed: {told}" in unavailable(source)


def test_nothing_of_asyncio_waits(origin: Origin, server: Server, cache: Path) -> None:
    """[D33] while a repository is fetched, other tasks go on."""
    server.fault = "hang"
    source = GitSkillSource(GitSkillConfig(server.url, cache_dir=cache, time_out=0.3))

    async def both() -> int:
        asked = asyncio.create_task(source.list())
        turns = 0
        while not asked.done():
            await asyncio.sleep(0.01)
            turns += 1
        with pytest.raises(RepositoryUnavailable):
            await asked
        return turns

    assert run(both()) > 1


def test_watchdog_ends_what_never_ends() -> None:
    """[D29] something that comes again and again is no reason to go on for ever."""
    cut, released = threading.Event(), threading.Event()
    with Watchdog(0.02) as watchdog:
        watchdog.guard(cut.set, released.set)
        while not cut.is_set():
            watchdog.feed()
        assert watchdog.is_late
        late = threading.Event()
        watchdog.guard(late.set, lambda: None)
        assert late.is_set()
        assert not released.is_set()
    assert released.is_set()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 with its key, that nobody has reason to trust."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    made = tmp_path / "certificate.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1"
    more = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{made}.key", "-out", str(made)]
    subprocess.run(["openssl", *words.split(), *more], check=True, capture_output=True)
    return made


@pytest.mark.slow
def test_https(server: Server, cache: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[LIB: GitSkillSource (feature-gated)] with a certificate that is trusted, and not with another."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, f"{certificate}.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    url = server.url.replace("http:", "https:")
    server.token = TOKEN
    config = GitSkillConfig(url, cache_dir=cache, auth=HttpsToken(TOKEN))
    assert "certificate verify failed" in unavailable(GitSkillSource(config))
    assert server.requests == []
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server.fault = "hang"
    assert unavailable(GitSkillSource(replace(config, time_out=0.5))).endswith("no answer in 0.5 s")
    server.fault = ""
    with serving(Server(server.root)) as plain:
        server.redirect = plain.url.removesuffix("/skills.git")
        assert "the server redirects from https to http" in unavailable(GitSkillSource(config))
        assert plain.requests == []
    server.redirect = ""
    assert ids(GitSkillSource(config)) == ["extraction/email", "pdf"]
