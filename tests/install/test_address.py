"""What a person may write to name the origin of skills."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillc.errors import OriginNotFound
from skillc.install.address import parse_origin, recall_origin
from skillc.install.origin import Origin
from tests.support.cases import each
from tests.support.git import Origin as GitOrigin

REPO = "https://github.com/owner/repo"
GITHUB = f"{REPO}.git"


def on_github(ref: str = "", path: str = "") -> Origin:
    return Origin("github", "owner/repo", GITHUB, ref, path)


@each(
    ("text", "origin"),
    [
        ("owner/repo", on_github()),
        ("owner/repo/", on_github()),
        ("github:owner/repo", on_github()),
        ("owner/repo@v1.2", on_github("v1.2")),
        ("owner/repo#feature/x", on_github("feature/x")),
        ("owner/repo@feature/x", on_github("feature/x")),
        ("owner/repo/skills/pdf", on_github(path="skills/pdf")),
        ("owner/repo/skills/pdf@main", on_github("main", "skills/pdf")),
        ("owner/repo/skills/pdf/SKILL.md", on_github(path="skills/pdf")),
        ("owner/repo/packages/@scope/pdf", on_github(path="packages/@scope/pdf")),
        ("owner/repo/packages/@scope/pdf@v1", on_github("v1", "packages/@scope/pdf")),
        ("https://github.com/owner/repo", on_github()),
        ("https://github.com/owner/repo.git", on_github()),
        ("https://www.github.com/owner/repo/", on_github()),
        ("https://github.com/owner/repo@v1", on_github("v1")),
        ("https://github.com/owner/repo#v1", on_github("v1")),
        ("https://github.com/owner/repo.git@v1", on_github("v1")),
        ("https://github.com/owner/repo/tree/main", on_github("main")),
        ("https://github.com/owner/repo/tree/main/skills/pdf", on_github("main", "skills/pdf")),
        ("https://github.com/owner/repo/tree/main/a%20b", on_github("main", "a b")),
        ("https://github.com/owner/repo/blob/main/skills/pdf/SKILL.md", on_github("main", "skills/pdf")),
        ("https://github.com/owner/repo/commit/0123abcd", on_github("0123abcd")),
    ],
)
def test_github(text: str, origin: Origin) -> None:
    """[SURFACES: Getting skills] A repository on GitHub, short or as a browser shows its address."""
    assert parse_origin(text, "/") == origin


@each(
    ("text", "kind", "url", "ref", "path"),
    [
        ("https://gitlab.com/a/b/c", "gitlab", "https://gitlab.com/a/b/c.git", "", ""),
        ("gitlab:a/b", "gitlab", "https://gitlab.com/a/b.git", "", ""),
        ("https://gitlab.com/a/b/c/-/tree/main/x/y", "gitlab", "https://gitlab.com/a/b/c.git", "main", "x/y"),
        (
            *("https://code.example.com/a/b/-/blob/v1/x/SKILL.md", "gitlab"),
            *("https://code.example.com/a/b.git", "v1", "x"),
        ),
        ("https://codeberg.org/a/b/src/branch/main/x", "git", "https://codeberg.org/a/b", "main", "x"),
        ("https://bitbucket.org/a/b/src/main/x", "git", "https://bitbucket.org/a/b", "main", "x"),
        ("https://example.com/x.git@v1", "git", "https://example.com/x.git", "v1", ""),
        ("https://example.com/x.git#a/b", "git", "https://example.com/x.git", "a/b", ""),
        ("git+https://example.com/x@v1", "git", "https://example.com/x", "v1", ""),
        ("http://127.0.0.1:8080/x.git", "git", "http://127.0.0.1:8080/x.git", "", ""),
        ("ssh://git@example.com:22/a/b.git@v1", "git", "ssh://git@example.com:22/a/b.git", "v1", ""),
        ("git@example.com:a/b.git", "git", "git@example.com:a/b.git", "", ""),
        ("git@example.com:a/b.git@v1", "git", "git@example.com:a/b.git", "v1", ""),
        ("git@example.com:a/b#v1", "git", "git@example.com:a/b", "v1", ""),
        ("file:///srv/x.git", "git", "file:///srv/x.git", "", ""),
        ("file:///srv/x@v1", "git", "file:///srv/x", "v1", ""),
    ],
)
def test_git(text: str, kind: str, url: str, ref: str, path: str) -> None:
    """[SURFACES: Getting skills] Any git address, with a ref after @ or #; file:// is git."""
    assert parse_origin(text, "/") == Origin(kind, url, url, ref, path)


@each(
    ("text", "origin"),
    [
        ("https://example.com", Origin("well-known", "wellknown/example.com", "https://example.com")),
        ("https://example.com/a/", Origin("well-known", "wellknown/example.com", "https://example.com/a/")),
        ("https://example.com/a.zip", Origin("download", *["https://example.com/a.zip"] * 2)),
        ("https://example.com/a.tar.gz?x=1", Origin("download", *["https://example.com/a.tar.gz?x=1"] * 2)),
        (f"{REPO}/archive/refs/tags/v1.zip", Origin("download", *[f"{REPO}/archive/refs/tags/v1.zip"] * 2)),
        (f"{REPO}/releases/download/v1/pdf", Origin("download", *[f"{REPO}/releases/download/v1/pdf"] * 2)),
        ("clawhub:pdf", Origin("download", "clawhub:pdf", "https://clawhub.ai")),
        ("clawhub:pdf@1.2.0", Origin("download", "clawhub:pdf", "https://clawhub.ai", "1.2.0")),
        ("clawhub:me/pdf@beta", Origin("download", "clawhub:me/pdf", "https://clawhub.ai", "beta")),
        (
            "clawhub:https://example.com/pdf@1.0.0",
            Origin("download", "clawhub:https://example.com/pdf", "https://example.com", "1.0.0"),
        ),
    ],
)  # fmt: skip
def test_web(text: str, origin: Origin) -> None:
    """[SURFACES: Getting skills] A site, an archive's address, a registry's skill."""
    assert parse_origin(text, "/") == origin


def test_local(tmp_path: Path) -> None:
    """[SURFACES: Getting skills] [SURFACES: Lock file] a folder or an archive, also read back from a lock,
    and a site's address.
    """
    (tmp_path / "skills/pdf").mkdir(parents=True)
    (tmp_path / "a.tgz").touch()
    folder = str(tmp_path / "skills/pdf")
    for text in ("./skills/pdf", "skills/pdf", folder, "skills/../skills/pdf/"):
        assert parse_origin(text, str(tmp_path)) == Origin("local", folder, folder)
    assert parse_origin("a.tgz", str(tmp_path)) == Origin("download", *[str(tmp_path / "a.tgz")] * 2)
    assert parse_origin("other/pdf", str(tmp_path)).type == "github"
    local = recall_origin({"sourceType": "local", "source": "./skills"}, str(tmp_path))
    assert local == Origin("local", *[str(tmp_path / "skills")] * 2)
    site = {
        "sourceType": "well-known",
        "source": "wellknown/example.com",
        "sourceUrl": "https://example.com/a",
    }
    assert recall_origin(site, "/") == Origin("well-known", "wellknown/example.com", "https://example.com/a")


def test_local_git(tmp_path: Path, origin: GitOrigin) -> None:
    """[SURFACES: Getting skills] A git repository on this machine: its root, and the folder in it."""
    work, bare = origin.work, origin.bare
    for text, root, ref, path in (
        (f"{work}@v1", work, "v1", ""),
        (f"{work}/pdf#main", work, "main", "pdf"),
        (f"./{work.name}@v1", work, "v1", ""),
        (f"{work.name}@v1", work, "v1", ""),
        (f"{work.name}//pdf@v1", work, "v1", "pdf"),
        (f"file://{work}//pdf@v1", work, "v1", "pdf"),
        (f"file://{bare}//gone/pdf", bare, "", "gone/pdf"),
        (str(bare), bare, "", ""),
    ):
        assert parse_origin(text, str(work.parent)) == Origin(
            "git", f"file://{root}", f"file://{root}", ref, path
        )
    (tmp_path / "plain").mkdir()
    with pytest.raises(OriginNotFound, match="it is in no git repository"):
        parse_origin("./plain@v1", str(tmp_path))


def test_a_slash_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Near misses] the path that may be meant: from the root where it is there, else from here."""
    monkeypatch.chdir(tmp_path)
    root = tmp_path.parts[1]
    for address, path in (
        (f"{root}/x//pdf", f"/{root}/x//pdf"),
        ("nothing-here/x", f"{tmp_path}/nothing-here/x"),
    ):
        with pytest.raises(OriginNotFound) as error:
            parse_origin(f"file://{address}", "/")
        assert error.value.details.endswith(f"at its root: file://{path}")


@each(
    ("text", "reason"),
    [
        ("", "empty"),
        ("a\nb/c", "control characters"),
        ("a\x1b[31m/c", "control characters"),
        ("a\udc80/c", "not UTF-8"),
        ("--upload-pack=touch x", "an option"),
        ("-oProxyCommand=x:y/z", "an option"),
        ("ext::sh -c touch% x", "remote helpers"),
        ("fd::17/x", "remote helpers"),
        ("word", "no address"),
        ("./missing", "no such folder"),
        ("~/missing-folder", "no such folder"),
        ("owner/repo@-x", "not the name of a branch"),
        ("owner/repo@a b", "not the name of a branch"),
        ("owner/repo/../../x", "leaves"),
        ("https://github.com/owner/repo/tree/main/..%2F..%2Fx", "leaves"),
        ("-owner/repo", "an option"),
        ("owner/-repo", "no address"),
        ("https://github.com/owner", "https://github.com/owner/repo"),
        ("http://example.com/x.git", "use https"),
        ("http://example.com", "use https"),
        ("git://example.com/x", "addresses are"),
        ("javascript://x", "addresses are"),
        ("https:///x", "no host"),
        ("file://repo//pdf", "'repo' is where another machine would be named"),
        ("https://[::1/x", "not a valid URL"),
        ("https://example.com:99999/x", "not a valid URL"),
        ("https://example.com/x.git?a=b", "no query"),
        ("ssh://git:secret-word@example.com/x", "use a key"),
        ("clawhub:", "clawhub:<slug>"),
        ("clawhub:../../x", "clawhub:<slug>"),
        ("clawhub:a b", "clawhub:<slug>"),
        ("clawhub:https://example.com", "names no skill"),
        (
            "mcp:https://me:secret-word@example.com/x",
            "skc repo add <name> https://***@example.com/x --type mcp",
        ),
    ],
)
def test_refused(text: str, reason: str) -> None:
    """[SURFACES: Getting skills] What names nothing, or could pose as something else, is E080."""
    with pytest.raises(OriginNotFound) as error:
        parse_origin(text, "/")
    assert error.value.code == "E080"
    assert reason in error.value.message
    assert "secret-word" not in error.value.text()
    assert "\x1b" not in error.value.line()


@each(
    "text",
    [
        *("https://me:secret-word@github.com/owner/repo", "https://secret-word@example.com/x.git"),
        *("https://me:secret-word@example.com/x.git@v1", "https://me:secret-word@example.com/a.zip"),
        *("https://example.com/a.zip?token=secret-word", "https://me:secret-word@example.com/"),
    ],
)
def test_secrets(text: str) -> None:
    """[SURFACES: Getting skills] Credentials are used and neither shown nor kept."""
    origin = parse_origin(text, "/")
    assert "secret-word" in origin.address
    for shown in (repr(origin), origin.label(), origin.url, origin.source):
        assert "secret-word" not in shown


@each("kind", ["skillc", "clawhub"])
def test_registry_with_a_login(kind: str) -> None:
    """[SURFACES: Getting skills] a registry's address has no user, and the message does not repeat it."""
    with pytest.raises(OriginNotFound, match="has no user") as error:
        parse_origin(f"{kind}:https://ada:secret-word@example.com/pdf", "/")
    assert "secret-word" not in error.value.line()


@each(
    "text",
    ["owner/repo@v1", "https://gitlab.com/a/b", "git@example.com:a/b.git", "file:///srv/x.git#v1",
     "https://example.com/a.zip", "clawhub:pdf@1.0.0", "clawhub:https://example.com/pdf"],
)  # fmt: skip
def test_recall(text: str) -> None:
    """[SURFACES: Lock file] The entry of a lock file leads back to the same origin."""
    origin = parse_origin(text, "/")
    entry = {"sourceType": origin.type, "source": origin.source, "ref": origin.ref}
    if origin.type in ("git", "gitlab"):
        entry["sourceUrl"] = origin.url
    again = recall_origin(entry | {"skillPath": "skills/pdf/SKILL.md"}, "/")
    assert (again.type, again.source, again.url, again.ref) == (
        origin.type, origin.source, origin.url, origin.ref,
    )  # fmt: skip
    assert again.path == "skills/pdf"
