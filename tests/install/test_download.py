"""Downloads from git, folders and archives: only what is wanted, verified, and gone in the end."""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from dulwich.objects import Blob, Tree

from skillc.errors import Diagnostic, OriginNotFound
from skillc.install.address import parse_origin
from skillc.install.download import open_download
from skillc.install.lock import change_lock, read_lock
from tests.conftest import World
from tests.support.cases import each
from tests.support.git import Origin, Server, serving
from tests.support.internet import connected


def downloads(world: World) -> list[str]:
    """What is left of downloads in the home's cache."""
    folder = world.home / ".skillc/cache/downloads"
    return os.listdir(folder) if folder.exists() else []


def get(address: str, *wanted: str, commit: str = "") -> dict[str, list[str]]:
    """Download; gives the files of each skill."""
    with open_download(parse_origin(address, "/"), names=wanted, commit=commit) as found:
        return {skill.name: files_of(skill.folder) for skill in found.candidates}


def files_of(folder: str) -> list[str]:
    return sorted(
        os.path.relpath(os.path.join(place, name), folder)
        for place, _, names in os.walk(folder)
        for name in names
    )


@pytest.fixture(params=["http", "filter", "file"])
def address(request: pytest.FixtureRequest, origin: Origin, server: Server) -> str:
    """The repository over HTTP, from a server that can leave files out and one that can't, and as a file."""
    if request.param == "filter":
        origin.git("config", "uploadpack.allowFilter", "true", at=origin.bare)
    return f"file://{origin.bare}" if request.param == "file" else server.url


def test_git_on_another_host(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills] A git server that redirects to another host is E080 before that is asked."""
    with serving(Server(server.root)) as other:
        server.redirect = f"http://127.0.0.1:{other.server_port}"
        host = f"127.0.0.1:{other.server_port}"
        with pytest.raises(OriginNotFound, match=f"another host, and asked only with --allow-host {host}"):
            get(server.url)
        assert other.requests == []
        with open_download(parse_origin(server.url, "/", frozenset({host}))) as found:
            assert [skill.name for skill in found.candidates] == ["pdf", "email"]
            assert found.resolved == other.url
        world.fails("E080", "add", server.url, "--skill", "pdf", "--yes")
        world.ok("add", server.url, "--skill", "pdf", "--yes", "--allow-host", host)
        shutil.rmtree(world.store / "pdf")
        world.ok("install", "--frozen")


def test_git_on_the_same_host(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills] A repository that moved on its own server is found in its new place."""
    origin.bare.rename(origin.bare.with_name("new.git"))
    server.moves["/skills.git/"] = "/new.git/"
    assert sorted(get(server.url)) == ["email", "pdf"]


@pytest.mark.slow
def test_private_repository(world: World, origin: Origin, server: Server) -> None:
    """[D24] [SURFACES: Lock file] A token in the address is in no file; git's helper has it."""
    server.token = "secret-token"
    address = server.url.replace("://", "://x-access-token:secret-token@")
    wrong = world.fails("E080", "add", address.replace("secret", "other"), "--skill", "pdf", "--yes").stderr
    assert "authentication failed" in wrong
    assert "other-token" not in wrong
    added = world.ok("add", address, "--skill", "pdf", "--yes", "--target", "claude")
    assert "secret-token" not in added.stdout + added.stderr
    for path in world.root.rglob("*"):
        if path.is_file() and not path.is_relative_to(origin.bare):
            assert b"secret-token" not in path.read_bytes(), path
    shutil.rmtree(world.store / "pdf")
    error = world.fails("E081", "install").stderr
    assert "credential helpers" in error
    assert "over https alone" in error
    logins = world.home / "logins"
    logins.write_text(f"http://x-access-token:secret-token@127.0.0.1:{server.server_port}\n")
    helper = f"[credential]\n\thelper = store --file={logins}\n"
    origin.git("init", "-q", at=world.project)
    (world.project / ".git" / "config").write_text(helper)  # a project's own configuration is not read
    world.fails("E081", "install")
    (world.home / ".gitconfig").write_text(helper)
    world.ok("install", "--frozen")
    world.ok("update")
    assert "secret-token" not in (world.project / "skills-lock.json").read_text()


@pytest.mark.slow
def test_token_of_a_variable(world: World, origin: Origin, server: Server, tmp_path: Path) -> None:
    """[D73] A variable's token goes to the host that it names over https; one without a host is W074."""
    server.token = "secret-token"
    name, address = "SKILLC_GIT_TOKEN_EXAMPLE_COM", "https://git.example.com/skills.git"
    with connected(tmp_path) as internet:
        internet.hosts["git.example.com"] = server.server_port
        old = world.skc("add", address, "--skill", "pdf", "--yes", env=internet.env | {name: "secret-token"})
        assert old.stderr.count("warning[W074]") == 1
        assert '"git.example.com=<token>"' in old.stderr
        assert "secret-token" not in old.stderr + old.stdout
        other = internet.env | {name: "example.com=secret-token"}
        world.fails("E080", "add", address, "--skill", "pdf", "--yes", env=other)
        assert {*server.authorized} == {""}
        env = internet.env | {name: "git.example.com=secret-token"}
        world.ok("add", address, "--skill", "pdf", "--yes", env=env)
        shutil.rmtree(world.store / "pdf")
        world.ok("install", "--frozen", env=env)


@pytest.mark.slow
def test_login_of_a_lock(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Lock file] A lock chooses neither the host nor the user that git's helpers are asked for."""
    world.ok("add", server.url, "--skill", "pdf", "--yes", "--target", "claude")
    lock = world.project / "skills-lock.json"
    text, questions = lock.read_text(), world.home / "questions"
    (world.home / ".gitconfig").write_text(f'[credential]\n\thelper = "!f() {{ cat >> {questions}; }}; f"\n')
    server.token = "secret-token"
    for user in ("x%0Aurl=https%3A%2F%2Fgithub.com", "victim"):
        lock.write_text(text.replace("http://127", f"http://{user}@127"))
        change_lock(str(world.project), record=[read_lock(str(world.project))["pdf"].sealed()])
        shutil.rmtree(world.store / "pdf", ignore_errors=True)
        shutil.rmtree(world.home / ".skillc" / "cache", ignore_errors=True)
        world.skc("install")
    asked = questions.read_text()
    assert "github.com" not in asked
    assert "victim" not in asked
    assert "127.0.0.1" in asked


def test_git(world: World, origin: Origin, address: str) -> None:
    """[SURFACES: Getting skills] The skills of a repository, with commit and trees."""
    origin.write("pdf/scripts/run.sh", "#!/bin/sh\n")
    (origin.work / "pdf/scripts/run.sh").chmod(0o755)
    commit = origin.push()
    with open_download(parse_origin(address, "/")) as found:
        assert [skill.name for skill in found.candidates] == ["pdf", "email"]
        assert found.commit == commit
        assert found.origin.type == "git"
        pdf, email = found.candidates
        assert pdf.path == "pdf/SKILL.md"
        assert email.description == "About email"
        assert pdf.tree == origin.git("rev-parse", "HEAD:pdf")
        assert files_of(pdf.folder) == ["SKILL.md", "scripts/run.sh"]
        assert os.stat(os.path.join(pdf.folder, "scripts/run.sh")).st_mode & 0o777 == 0o755
        assert os.path.realpath(pdf.folder).startswith(str(world.home))
    assert not os.path.exists(pdf.folder)
    assert downloads(world) == []


@pytest.mark.slow
def test_one_wanted(world: World, origin: Origin, address: str) -> None:
    """[SURFACES: Getting skills] Only the skill that is wanted is on disk, by name or by path.

    A list first, then the files of those chosen, by the names in their SKILL.md.
    """
    origin.write("pdf/more.md", "more")
    origin.write("x/SKILL.md", "---\nname: my-name\ndescription: y\n---\n")
    origin.push("a/one", "b/two")
    for wanted in ("two", "TWO", "b/two", "b/two/SKILL.md"):
        with open_download(parse_origin(address, "/"), names=[wanted]) as found:
            assert [skill.name for skill in found.candidates] == ["two"]
            assert files_of(found.folder) == ["b/two/SKILL.md"]
    assert get(address, "my-name") == {"my-name": ["SKILL.md"]}
    with open_download(parse_origin(address, "/"), lazy=True) as found:
        (pdf,) = (skill for skill in found.candidates if skill.name == "pdf")
        assert len(found.candidates) == 5
        assert not os.path.exists(pdf.folder)
        found.complete([pdf])
        found.complete([pdf])
        assert files_of(found.folder) == ["pdf/SKILL.md", "pdf/more.md"]


def test_sparse(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills] From a server that can filter, no file comes but those that are wanted."""
    origin.git("config", "uploadpack.allowFilter", "true", at=origin.bare)
    origin.write("large/SKILL.md", "---\nname: large\ndescription: x\n---\n" + os.urandom(500_000).hex())
    origin.push()
    with open_download(parse_origin(server.url, "/"), names=["pdf"]) as found:
        objects = Path(found.folder).parent / "objects"
        size = sum(path.stat().st_size for path in objects.rglob("*") if path.is_file())
        assert files_of(found.folder) == ["pdf/SKILL.md"]
    assert 0 < size < 100_000
    assert [line.split()[0] for line in server.requests] == ["ask", "ask", "fetch", "fetch"]


@pytest.mark.slow
def test_refs(world: World, origin: Origin, address: str) -> None:
    """[SURFACES: Getting skills] A branch, a tag or a commit, whole or short, after @ or #.

    In a browser's address, a ref with slashes is told from the path.
    """
    first = origin.git("rev-parse", "HEAD")
    last = origin.push("skills/deep")
    origin.git("push", "-q", "origin", "main:feature/x")
    for ref, commit in [("@v1", first), ("#v1", first), ("@main", last), ("#feature/x", last)]:
        with open_download(parse_origin(address + ref, "/")) as found:
            assert (found.commit, found.origin.ref) == (commit, ref[1:])
    for name in (first, first[:10]):
        with open_download(parse_origin(f"{address}@{name}", "/")) as found:
            assert found.commit == first
            assert "deep" not in [skill.name for skill in found.candidates]
    place = replace(parse_origin(address, "/"), ref="feature", path="x/skills/deep")
    with open_download(place) as found:
        assert (found.origin.ref, found.origin.path) == ("feature/x", "skills/deep")
        assert [skill.name for skill in found.candidates] == ["deep"]


def test_exact_commit(world: World, origin: Origin, address: str) -> None:
    """[SURFACES: Lock file] The commit of a lock is fetched, wherever the branch is by now."""
    first = origin.git("rev-parse", "HEAD")
    origin.push("new")
    for allow in ("true", "false"):
        origin.git("config", "uploadpack.allowAnySHA1InWant", allow, at=origin.bare)
        with open_download(parse_origin(f"{address}@main", "/"), commit=first) as found:
            assert found.commit == first
            assert [skill.name for skill in found.candidates] == ["pdf", "email"]
    with pytest.raises(OriginNotFound):
        get(address, commit="0123456789" * 4)


@pytest.mark.slow
def test_not_there(world: World, origin: Origin, address: str) -> None:
    """[SURFACES: Getting skills] E080 says what is missing and what there is."""
    with pytest.raises(OriginNotFound, match="no branch, tag or commit 'nope'") as error:
        get(f"{address}@nope")
    assert "--skill nope" in error.value.details
    with pytest.raises(OriginNotFound, match="no skill 'pdff' in it") as error:
        get(address, "pdff")
    assert error.value.details == "hint: did you mean 'pdf'?"
    with (
        pytest.raises(OriginNotFound, match="no folder 'nowhere'"),
        open_download(replace(parse_origin(address, "/"), path="nowhere")),
    ):
        pass
    origin.git("rm", "-rq", ".")
    origin.push()
    with pytest.raises(OriginNotFound, match="no skill in it"):
        get(address)
    assert downloads(world) == []


def test_no_repository(world: World, server: Server, tmp_path: Path) -> None:
    """[SURFACES: Getting skills] No repository, no server, an empty repository: E080, and nothing stays."""
    with pytest.raises(OriginNotFound, match="no git repository"):
        get(server.url.replace("skills", "other"))
    with pytest.raises(OriginNotFound, match="no such folder"):
        get(f"file://{tmp_path}/nowhere")
    with pytest.raises(OriginNotFound, match="refused"):
        get("http://127.0.0.1:1/x.git")
    made = Origin(tmp_path / "empty")
    (tmp_path / "empty").mkdir()
    made.make()
    with pytest.raises(OriginNotFound, match="no commits"):
        get(f"file://{made.bare}")
    assert downloads(world) == []


@each("fault", ["404", "500", "html", "lie", "cut"])
def test_faults(world: World, server: Server, fault: str) -> None:
    """[SURFACES: Getting skills] A server that fails or lies: E080, and nothing stays."""
    server.fault = fault
    with pytest.raises(OriginNotFound):
        get(server.url)
    assert downloads(world) == []


def test_links(world: World, origin: Origin, address: str) -> None:
    """[SURFACES: Getting skills] A link becomes what it leads to in the repository; others are left out."""
    origin.write("LICENSE", "free")
    origin.write("shared/a.md", "shared")
    for name, target in [
        ("LICENSE", "../LICENSE"),
        ("shared", "../shared"),
        ("twice", "LICENSE"),
        ("out", "../../../etc/passwd"),
        ("absolute", "/etc/passwd"),
        ("self", "."),
        ("loop", "loop"),
        ("nowhere", "missing"),
    ]:
        (origin.work / "pdf" / name).symlink_to(target)
    origin.push()
    reports: list[Diagnostic] = []
    with open_download(parse_origin(address, "/"), names=["pdf"], report=reports.append) as found:
        folder = found.candidates[0].folder
        assert files_of(folder) == ["LICENSE", "SKILL.md", "shared/a.md", "twice"]
        assert not any(path.is_symlink() for path in Path(folder).rglob("*"))
    left = sorted(report.message.split("'")[1] for report in reports)
    assert left == ["pdf/absolute", "pdf/loop", "pdf/nowhere", "pdf/out", "pdf/self"]
    assert {report.code for report in reports} == {"W081"}


@pytest.mark.slow
@each("name", [b"..", b".git", b"a/b", b"a\\b", b"nul\0x", b"GIT~1"])
def test_hostile_trees(world: World, origin: Origin, address: str, name: bytes) -> None:
    """[SURFACES: Getting skills] A tree that git would not make writes nothing outside its folder."""
    blob, main = Blob.from_string(b"bad"), Blob.from_string(b"---\nname: x\ndescription: y\n---\n")
    inner, outer = Tree(), Tree()
    inner.add(b"SKILL.md", stat.S_IFREG | 0o644, main.id)
    inner.add(name, stat.S_IFREG | 0o644, blob.id)
    outer.add(b"x", stat.S_IFDIR, inner.id)
    origin.push_tree(outer, blob, main, inner)
    files: dict[str, list[str]] = {"x": ["SKILL.md"]}
    with suppress(OriginNotFound):
        files = get(address)
    assert files == {"x": ["SKILL.md"]}
    assert downloads(world) == []


def test_folder(world: World, tmp_path: Path) -> None:
    """[SURFACES: Getting skills] A folder is read where it is, and stays as it is."""
    place = tmp_path / "mine"
    world.skill("one", store=place)
    world.skill("two", store=place / "skills")
    (place / "linked").symlink_to(world.skill("three", store=tmp_path / "elsewhere"))
    (place / "node_modules/x").mkdir(parents=True)
    world.skill("hidden", store=place / "node_modules/x")
    before = files_of(str(place))
    with open_download(parse_origin(str(place), "/")) as found:
        assert {skill.name for skill in found.candidates} == {"one", "two", "three"}
    assert files_of(str(place)) == before


def test_archive(world: World, tmp_path: Path) -> None:
    """[SURFACES: Getting skills] The skills of an archive, also below the one folder that all is in.

    An archive with SKILL.md in its root or its only folder is one skill.
    """
    for place in (tmp_path / "wrapped" / "repo-main", tmp_path / "plain"):
        world.skill("one", store=place / "skills")
        world.skill("two", store=place)
    for name in ("wrapped", "plain"):
        with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as file:
            file.add(tmp_path / name, ".")
        with open_download(parse_origin(str(tmp_path / "a.tar.gz"), "/")) as found:
            assert [(skill.name, skill.path) for skill in found.candidates] == [
                ("one", "skills/one/SKILL.md"),
                ("two", "two/SKILL.md"),
            ]
    folder = world.skill("one", store=tmp_path / "made")
    (folder / "more.md").write_text("more")
    for root in (folder, folder.parent):
        shutil.make_archive(str(tmp_path / "a"), "zip", root)
        assert get(str(tmp_path / "a.zip")) == {"one": ["SKILL.md", "more.md"]}
    assert downloads(world) == []


def test_leftovers_are_swept(world: World, tmp_path: Path) -> None:
    """[SURFACES: Getting skills] What a killed process left is removed by a later download."""
    old = world.home / ".skillc/cache/downloads/.download.1-x.tmp"
    old.mkdir(parents=True)
    os.utime(old, (1, 1))
    world.skill("one", store=tmp_path / "mine")
    assert list(get(str(tmp_path / "mine"))) == ["one"]
    assert not old.exists()
