"""Logins for git servers: of variables that name their host, and of git's own helpers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skillc.remotes.git import GitRemote, find_unused_tokens
from tests.conftest import World
from tests.support.cases import each

LOGIN = "username=ada\npassword=secret\n"


class Helper:
    """A credential helper of the user's: keeps the questions, and gives an answer."""

    def __init__(self, home: Path, answer: str = LOGIN) -> None:
        self._questions, self._answer = home / "questions", home / "answer"
        self._answer.write_text(answer)
        program = f'"!f() {{ cat >> {self._questions}; cat {self._answer}; }}; f"'
        (home / ".gitconfig").write_text(f"[credential]\n\thelper = {program}\n\tuseHttpPath = true\n")

    @property
    def questions(self) -> str:
        return self._questions.read_text() if self._questions.exists() else ""


def test_helper(world: World) -> None:
    """[SURFACES: Getting skills] git's helpers are asked for the host of the address."""
    helper = Helper(world.home)
    remote = GitRemote.parse("https://git.example.com:8443/a.git").ask_helpers()
    assert remote is not None
    assert (remote.username, remote.password) == ("ada", "secret")
    lines = helper.questions.splitlines()
    assert {"protocol=https", "host=git.example.com:8443", "path=a.git"} <= {*lines}


@each("name", ["x\nurl=https://github.com", "x\nhost=github.com", "x\0y", "x%0Ay"])
def test_second_line_in_a_question(world: World, name: str) -> None:
    """[SURFACES: Getting skills] a user with a second line is no question, wherever it comes from."""
    helper = Helper(world.home)
    assert replace(GitRemote.parse("https://evil.host/a.git"), username=name).ask_helpers() is None
    assert helper.questions == ""


@each("lines", ["host=github.com\n", "protocol=http\n", "url=https://github.com/\n"])
def test_answer_for_another_host(world: World, lines: str) -> None:
    """[SURFACES: Getting skills] an answer for another host or protocol is thrown away."""
    Helper(world.home, lines + LOGIN)
    assert GitRemote.parse("https://git.example.com/a.git").ask_helpers() is None


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("git.corp.com=s3cret", "https://git.corp.com/a.git"),
        ("Git.Corp.com=s3cret", "https://GIT.corp.com:443/a.git"),
        ("git.corp.com:8443=s3cret", "https://git.corp.com:8443/a.git"),
        (" intranet=s3cret \n", "https://intranet/a.git"),
    ],
)
def test_variable(monkeypatch: pytest.MonkeyPatch, value: str, address: str) -> None:
    """[D73] a token is sent to the host that its variable names, whatever the variable is called."""
    monkeypatch.setenv("SKILLC_GIT_TOKEN_WORK", value)
    remote = GitRemote.parse(address).with_token()
    assert (remote.username, remote.password) == ("x-access-token", "s3cret")
    assert find_unused_tokens() == []
    assert GitRemote.parse(address).describe_variable().count("=<token>") == 1


@each(
    "address",
    [
        *("https://git-corp.com/a.git", "https://git.corp.com:8443/a.git"),
        "https://git.corp.com.evil.host/a.git",
        "https://gi\N{LATIN SMALL LETTER SHARP S}.corp.com/a.git",
        *("https://\N{FULLWIDTH LATIN SMALL LETTER G}it.corp.com/a.git", "http://git.corp.com/a.git"),
        *("http://git.corp.com:443/a.git", "ssh://git@git.corp.com/a.git"),
        "https://ada@git.corp.com/a.git",
    ],
)
def test_variable_of_another_host(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """[D73] no other host, port or scheme gets it."""
    monkeypatch.setenv("SKILLC_GIT_TOKEN_GIT_CORP_COM", "git.corp.com=s3cret")
    monkeypatch.setenv("SKILLC_GIT_TOKEN_OTHER", "giss.corp.com=s3cret")
    assert GitRemote.parse(address).with_token().password is None


def test_question_for_the_host_that_is_asked(world: World) -> None:
    """[SURFACES: Getting skills] a helper is asked for the host that is connected to, not for a like one."""
    helper = Helper(world.home)
    GitRemote.parse("https://gi\N{LATIN SMALL LETTER SHARP S}.corp.com/a.git").ask_helpers()
    assert "host=xn--gi-hia.corp.com\n" in helper.questions


@pytest.mark.parametrize(
    "value", ["s3cret", "s3cret==", "git.corp.com=", "a b=s3cret", "https://git.corp.com=s3cret", "h=a b"]
)
def test_variable_without_a_host(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """[D73] a value in the old form is not used, and says so without repeating it."""
    monkeypatch.setenv("SKILLC_GIT_TOKEN_GIT_CORP_COM", value)
    monkeypatch.setenv("SKILLC_GIT_TOKEN_EMPTY", "")
    assert GitRemote.parse("https://git.corp.com/a.git").with_token().password is None
    (diagnostic,) = find_unused_tokens()
    assert diagnostic.line() == (
        "warning[W074]: the variable SKILLC_GIT_TOKEN_GIT_CORP_COM is not used:"
        " it does not name its host; set it to '<host>[:port]=<token>'"
    )
