"""`skc add` of other people's marketplaces, by the address of the file: real git repositories on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from skillc.errors import OriginNotFound
from skillc.install.address import parse_origin
from skillc.install.download import open_download
from skillc.install.marketplace import find_marketplace, read_plugins
from skillc.remotes.http import host_of
from tests.conftest import World
from tests.support.cases import each
from tests.support.git import Origin, Server
from tests.support.http import Request, Stub, page

FILE = "/.claude-plugin/marketplace.json"
Shop = Callable[..., str]


@pytest.fixture
def shop(stub: Stub, server: Server) -> Shop:
    """Serve a marketplace of plugins by name and source, and return its address; any other path is 404."""

    def serve(path: str = FILE, **sources: Any) -> str:
        plugins = [{"name": name.replace("_", "-"), "source": source} for name, source in sources.items()]

        def answer(request: Request) -> list[bytes]:
            found = request.path == path
            return [page({"name": "shop", "plugins": plugins} if found else b"none", 200 if found else 404)]

        stub.answer = answer
        return f"{stub.url}{path}"

    return serve


def lock(world: World) -> Any:
    return json.loads((world.project / "skills-lock.json").read_text())["skills"]


@pytest.mark.slow
def test_plugins_are_git_repositories(world: World, shop: Shop, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills] a plugin is added from its repository, which the lock names, and updated."""
    commit = origin.git("rev-parse", "HEAD")
    host = host_of(server.url)
    address = shop(
        documents={"source": "url", "url": server.url},
        mail={"source": "git-subdir", "url": server.url, "path": "./extraction/email", "ref": "main"},
        fixed={"source": "url", "url": server.url, "sha": commit},
        tagged={"source": "url", "url": server.url, "ref": "v1"},
    )
    result = world.fails("E100", "add", address, "--yes")
    assert "4 plugins" in result.stderr
    assert "documents, mail, fixed, tagged" in result.stderr
    refusal = world.fails("E080", "add", address, "--skill", "mail", "--yes").stderr
    assert f"'{host}' is another host, and asked only with --allow-host {host}" in refusal
    assert not server.requests
    world.ok("add", address, "--skill", "mail", "--allow-host", host, "--yes")
    entry = lock(world)["email"]
    assert (entry["source"], entry["sourceType"], entry["ref"]) == (server.url, "git", "main")
    assert entry["skillPath"] == "extraction/email/SKILL.md"
    assert entry["skillc"]["commit"] == commit
    origin.skill("extraction/email", "Newer.")
    origin.push()
    world.ok("update", "email", "--yes")
    assert "Newer." in (world.store / "email" / "SKILL.md").read_text()
    world.ok("remove", "email")
    shown = world.json("add", address, "--skill", "fixed", "--allow-host", host, "--dry-run")
    assert [(each["id"], each["ref"], each["commit"]) for each in shown["added"]] == [
        ("pdf", commit, commit),
        ("email", commit, commit),
    ]


@pytest.mark.slow
def test_a_skill_of_a_plugin(world: World, shop: Shop, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills] a name that no plugin has is looked for in all of them."""
    host = host_of(server.url)
    address = shop(x={"source": "url", "url": server.url})
    world.ok("add", address, "--skill", "email", "--allow-host", host, "--yes")
    error = world.fails("E080", "add", address, "--skill", "emial", "--allow-host", host, "--yes").stderr
    assert "email" in error
    assert list(lock(world)) == ["email"]


@pytest.mark.slow
def test_only_the_skills_that_a_plugin_names(world: World, stub: Stub, server: Server) -> None:
    """[SURFACES: Getting skills] where an entry names folders of skills, those alone; no skill is W080."""
    source = {"source": "url", "url": server.url}
    plugins = [
        {"name": "one", "source": source, "skills": ["./extraction"]},
        {"name": "none", "source": source, "skills": "./hooks"},
    ]
    stub.answer = lambda request: [page({"plugins": plugins}, 200 if request.path == FILE else 404)]
    words = ("add", f"{stub.url}{FILE}", "--allow-host", host_of(server.url), "--yes")
    error = world.fails("E080", *words, "--skill", "none").stderr
    assert "no skill in it that can be added" in error
    result = world.ok(*words, "--all")
    assert "W080" in result.stderr
    assert "'none' is left out" in result.stderr
    assert list(lock(world)) == ["email"]


@each(
    ("source", "words"),
    [
        ("./plugins/x", "of the repository that the marketplace is in"),
        ({"source": "local", "path": "./plugins/x"}, "of the repository that the marketplace is in"),
        ({"source": "npm", "package": "@acme/x"}, "the package '@acme/x' of npm; 'npm pack' gets it"),
        ({"source": "pip", "package": "x"}, "the package 'x' of pip"),
        ({"source": "github", "repo": "acme/x"}, "--allow-host github.com"),
        ({"source": "git-subdir", "url": "acme/x", "path": "a"}, "--allow-host github.com"),
        ("https://elsewhere.example/x.git", "--allow-host elsewhere.example"),
        ({"source": "url", "url": "git@github.com:acme/x.git"}, "'skc add git@github.com:acme/x.git'"),
        ({"source": "url", "url": "ssh://git@github.com/acme/x"}, "not at an https address"),
        ({"source": "url", "url": "file:///etc"}, "not at an https address"),
        ({"source": "url", "url": "/etc"}, "not at an https address"),
        ({"source": "url", "url": "ext::sh -c id"}, "not at an https address"),
        ({"source": "url", "url": "http://elsewhere.example/x.git"}, "http is for this machine alone"),
        ({"source": "url", "url": "http://[x/"}, "not a valid URL"),
        ({"source": "github", "repo": "../x"}, "not one that skc reads"),
        ({"source": "github", "repo": "acme/x", "ref": "--upload-pack=x"}, "--allow-host github.com"),
        ({"source": "hologram"}, "its source 'hologram' is not one that skc reads"),
        (None, "its source '' is not one that skc reads"),
        (5, "its source '' is not one that skc reads"),
    ],
)
def test_what_is_not_asked(world: World, shop: Shop, source: Any, words: str) -> None:
    """[SURFACES: Getting skills] what skc does not read or ask is E080 that says what to do."""
    marketplace = find_marketplace(parse_origin(shop(x=source), "/"))
    assert marketplace is not None
    with pytest.raises(OriginNotFound) as error:
        marketplace.origin_of(marketplace.choose(["x"])[0])
    assert words in error.value.text()


@each("fields", [{"path": "../.."}, {"path": "a/../../b"}, {"ref": "--exec=x"}])
def test_hostile_fields(world: World, shop: Shop, server: Server, fields: dict[str, str]) -> None:
    """[SURFACES: Getting skills] a path that leaves the repository, or a ref like an option, is refused."""
    address = shop(x={"source": "git-subdir", "url": server.url} | fields)
    marketplace = find_marketplace(parse_origin(address, "/", frozenset({host_of(server.url)})))
    assert marketplace is not None
    with pytest.raises(OriginNotFound, match=r"leaves the repository|not the name of a branch"):
        marketplace.origin_of(marketplace.plugins[0])
    assert not server.requests


def test_credentials_stay_on_their_host(world: World, shop: Shop, stub: Stub, server: Server) -> None:
    """[SURFACES: Getting skills] [D24] a password goes to plugins on the marketplace's own host alone."""
    own = f"{stub.url}/plugins/own.git"
    address = shop(own={"source": "url", "url": own}, other={"source": "url", "url": server.url})
    secret = address.replace("://", "://me:secret-word@")
    marketplace = find_marketplace(parse_origin(secret, "/", frozenset({host_of(server.url)})))
    assert marketplace is not None
    first, second = (marketplace.origin_of(plugin) for plugin in marketplace.plugins)
    assert first.address == own.replace("://", "://me:secret-word@")
    assert "secret-word" not in repr(first)
    assert "secret-word" not in first.label()
    assert second.address == server.url
    assert stub.requests[0].headers["authorization"].startswith("Basic ")


@each("content", [b"<h1>no</h1>", [], {"plugins": 5}, {"name": "x"}, b"[" * 100_000, b"\xff"])
def test_no_marketplace(world: World, stub: Stub, content: Any) -> None:
    """[SURFACES: Getting skills] an address of anything else is what it was before."""
    stub.gives(page(content))
    assert find_marketplace(parse_origin(f"{stub.url}/shop.json", "/")) is None


def test_odd_entries(world: World, stub: Stub) -> None:
    """[SURFACES: Getting skills] those without a name are not chosen; of two with one, the first counts."""
    plugins: list[Any] = [5, {}, {"name": 5}, {"name": " "}]
    plugins += [{"name": "a", "source": "./1"}, {"name": "a", "source": "./2"}]
    plugins += [{"name": "b", "source": "./b", "skills": [5, "./c"], "description": ["x"]}]
    read = read_plugins({"plugins": plugins, "metadata": {"pluginRoot": "./all"}})
    assert read is not None
    assert [(each.name, each.folder, each.skills) for each in read if each.name] == [
        ("a", "all/1", ()),
        ("b", "all/b", ("c",)),
    ]
    stub.gives(page({"plugins": []}))
    with pytest.raises(OriginNotFound, match="lists no plugin"):
        find_marketplace(parse_origin(f"{stub.url}/shop.json", "/"))


def test_where_one_source_is_wanted(world: World, shop: Shop) -> None:
    """[SURFACES: Getting skills] `skc audit` of a marketplace says what it is, and what to name instead."""
    address = shop(x={"source": "github", "repo": "acme/x"})
    with (
        pytest.raises(OriginNotFound, match="it is a marketplace"),
        open_download(parse_origin(address, "/")),
    ):
        pass


@pytest.mark.slow
def test_plugins_elsewhere_of_a_repository(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills] a repository whose marketplace names other places says which."""
    plugins = [
        {"name": "far", "source": {"source": "github", "repo": "acme/far", "path": "a", "ref": "v2"}},
        {"name": "here", "source": {"source": "local", "path": "./deep/a/b/c/d/e/f/g/here"}},
    ]
    origin.write(".agents/plugins/marketplace.json", json.dumps({"plugins": plugins}))
    origin.push("deep/a/b/c/d/e/f/g/here/skills/inner")
    error = world.fails("E080", "add", server.url, "--skill", "far", "--yes").stderr
    assert "'far' ('skc add github:acme/far/a#v2')" in error
    world.ok("add", server.url, "--skill", "inner", "--yes")
    assert list(lock(world)) == ["inner"]
    origin.git("rm", "-q", "-r", "deep", "pdf", "extraction")
    origin.push()
    assert "acme/far" in world.fails("E080", "add", server.url, "--all", "--yes").stderr


def test_addresses() -> None:
    """[SURFACES: Registry protocols] [SURFACES: Getting skills] a plugin's version is no ref; the page of
    the file on a forge is its repository.
    """
    origin = parse_origin("https://skills.example.com/plugins/payments/refunds@1.0.0.git", "/")
    assert (origin.url.rpartition("/")[2], origin.ref) == ("refunds@1.0.0.git", "")
    origin = parse_origin("https://skills.example.com/plugins/payments/refunds@1.0.0.git@main", "/")
    assert (origin.url.rpartition("/")[2], origin.ref) == ("refunds@1.0.0.git", "main")
    origin = parse_origin(f"https://github.com/acme/shop/blob/main{FILE}", "/")
    assert (origin.source, origin.ref, origin.path) == ("acme/shop", "main", "")
    origin = parse_origin("https://github.com/acme/shop/blob/main/sub/.agents/plugins/marketplace.json", "/")
    assert (origin.source, origin.path) == ("acme/shop", "sub")
    raw = "https://raw.githubusercontent.com/acme/shop/main/.claude-plugin/marketplace.json"
    assert parse_origin(raw, "/").type == "well-known"
