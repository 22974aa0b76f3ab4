"""`skc yank`, `skc token` and `skc grant` at a real registry."""

from __future__ import annotations

import json
import shlex

import pytest

from skillc.errors import SkillNotFound
from skillc.registry import SYSTEM, Role
from tests.cli.calls import fails, ok
from tests.conftest import World
from tests.support.http import Stub, page
from tests.support.team import Team


def test_yank_and_undo(admin: World, team: Team) -> None:
    """[SURFACES: Registry] yank takes a version out of the choice, with a reason; --undo brings it back."""
    team.publish("payments/refunds", version="1.0.0")
    result = admin.json("yank", "payments/refunds@1.0", "--reason", "pays twice")
    assert result == {
        "id": "payments/refunds",
        "version": "1.0.0",
        "yanked": "pays twice",
        "registry": team.url,
    }
    skill = team.registry.skill(SYSTEM, "payments/refunds")
    assert skill.versions[0].yanked == "pays twice"
    with pytest.raises(SkillNotFound):
        skill.resolve("latest")
    run = ok("yank", "payments/refunds@1.0.0", "--undo")
    assert run.stdout == f"Unyanked payments/refunds 1.0.0 in {team.url}\n"
    assert team.registry.skill(SYSTEM, "payments/refunds").versions[0].yanked is None


MISTAKES = """
E100 yank refunds --reason x
E100 yank refunds@1.0.0
E100 yank refunds@1.0.0 --undo --reason x
E062 yank refunds@one --reason x
E062 yank refunds@1.0.0 --reason ' '
E001 yank refunds@2.0.0 --reason x
E070 yank @1.0.0 --reason x
E100 token make
E100 token create x
E100 token revoke
E100 token list --role reader
E100 token create --role king
E100 token create --expires soon
E100 token create --expires 90
E100 grant give
E100 grant add ada
E100 grant add ada king
E100 grant list ada
E100 grant list --prefix x
E100 grant remove
E100 grant remove ada reader
"""


def test_mistakes(admin: World, team: Team) -> None:
    """[SURFACES: Registry] what can't be yanked, and words that make no sense, are a coded line."""
    team.publish("refunds", version="1.0.0")
    for line in MISTAKES.strip().splitlines():
        fails(*shlex.split(line))
    env = {"SKILLC_TOKEN": team.token("ada", Role.PUBLISHER)}
    words = ("yank", "refunds@1.0.0", "--reason", "x", "--to", team.url)
    assert "maintainer" in admin.fails("E090", *words, env=env).stderr


def test_tokens(admin: World, team: Team) -> None:
    """[SURFACES: Registry] a token is shown once, is listed without its secret, and ends when revoked."""
    words = ("--role", "publisher", "--prefix", "payments", "--expires", "90d", "--label", "ci")
    token = admin.json("token", "create", *words)
    fields = ("role", "prefix", "label", "owner")
    assert [token[name] for name in fields] == ["publisher", "payments", "ci", "admin"]
    assert token["expires_at"] > token["created_at"]
    assert team.registry.accounts.authenticate(token["token"]).allows(Role.PUBLISHER, "payments/x")
    listing = admin.json("token", "list")["tokens"]
    assert {each["id"] for each in listing} >= {token["id"]}
    text = ok("token", "list").stdout
    assert " ".join(text.split()[:9]) == "ID OWNER ROLE PREFIX NOW LABEL CREATED EXPIRES REVOKED"
    assert token["token"] not in text + json.dumps(listing)
    assert admin.json("token", "revoke", token["id"])["revoked"] is True
    admin.fails("E090", "token", "list", "--to", team.url, env={"SKILLC_TOKEN": token["token"]})
    fails("E093", "token", "revoke", "nothing")


def test_token_as_text(admin: World, team: Team) -> None:
    """[SURFACES: Registry] a token for a pipe, the shell, and others; a publisher makes none with more
    rights.
    """
    first, second, _ = ok("token", "create").stdout.splitlines()
    caller = team.registry.accounts.authenticate(first)
    assert not caller.allows(Role.PUBLISHER, "x")
    assert caller.allows(Role.READER, "x")
    assert "reader of all" in second
    assert ok("__complete", "publish", "x", "--to", "").stdout.split() == [team.url]
    assert ok("__complete", "logout", "").stdout.split() == [team.url]
    assert ok("__complete", "grant", "add", "ada", "p").stdout.split() == ["publisher"]
    team.token("ada", Role.PUBLISHER, "payments")
    token = admin.json("token", "create", "--owner", "ada", "--role", "publisher", "--prefix", "payments")
    env = {"SKILLC_TOKEN": token["token"], "SKILLC_REGISTRY": team.url}
    admin.fails("E090", "token", "create", "--role", "admin", env=env)
    admin.fails("E090", "token", "create", "--prefix", "payments", "--owner", "eve", env=env)
    assert admin.json("token", "create", "--prefix", "payments", env=env)["owner"] == "ada"


def test_grants(admin: World, team: Team) -> None:
    """[SURFACES: Registry] grants are added, listed and removed."""
    assert admin.json("grant", "add", "ada", "publisher", "--prefix", "payments") == {
        "subject": "ada",
        "role": "publisher",
        "prefix": "payments",
        "registry": team.url,
    }
    ok("grant", "add", "ada", "maintainer", "--prefix", "payments")
    grants = admin.json("grant", "list")["grants"]
    assert {"subject": "ada", "role": "maintainer", "prefix": "payments"} in grants
    assert len(grants) == 2
    rows = [line.split() for line in ok("grant", "list").stdout.splitlines()]
    assert rows[0] == ["SUBJECT", "ROLE", "PREFIX"]
    assert ["ada", "maintainer", "payments"] in rows
    assert "no role" in ok("grant", "remove", "ada", "--prefix", "payments").stdout
    assert len(admin.json("grant", "list")["grants"]) == 1
    fails("E093", "grant", "remove", "ada")
    fails("E062", "grant", "remove", "admin")  # the last admin stays


def test_text_of_others(world: World, stub: Stub) -> None:
    """[SURFACES: Registry] [SURFACES: Terminal] what a registry says stays on its line."""
    stub.gives(page({"tokens": [{"id": "1\n2", "label": "a\u202eb", "expires_at": 3}, 4]}))
    rows = ok("token", "list", "--to", stub.url).stdout.splitlines()
    assert [row.split() for row in rows[1:]] == [["1\\n2", "a\\u202eb", "3"]]


def test_what_a_token_may_do_now(admin: World, team: Team) -> None:
    """[SURFACES: Registry] create and list say what a token may do, as its owner's grants are."""
    team.token("ada", Role.PUBLISHER, "payments")
    both = ok("token", "create", "--role", "maintainer", "--owner", "ada").stdout.splitlines()
    assert "(maintainer of all)" in both[1]
    assert both[2] == (
        "Now it may do: publisher below payments, no role elsewhere;"
        " ada has no more, which 'skc grant add' changes"
    )
    nothing = admin.json("token", "create", "--owner", "eve")
    assert nothing["permissions"] == []
    assert "Now it may do: nothing; eve has no more" in ok("token", "create", "--owner", "eve").stdout
    assert ok("token", "create").stdout.splitlines()[2] == "Now it may do: reader of all"
    rows = {each["owner"]: each["permissions"] for each in admin.json("token", "list")["tokens"]}
    assert (rows["eve"], rows["ada"]) == ([], [{"role": "publisher", "prefix": "payments"}])
    admin.ok("token", "revoke", nothing["id"])
    assert "publisher below payments, no role elsewhere" in ok("token", "list").stdout


def test_a_role_below_a_prefix_alone(world: World, team: Team) -> None:
    """[SURFACES: Registry] login and refusals name the roles of a person, and that there are no others."""
    env = {"TEAM": team.token("ada", Role.PUBLISHER, "payments")}
    run = world.ok("login", team.url, "--token-env", "TEAM", env=env)
    assert run.stdout.endswith("as ada (publisher below payments, no role elsewhere)\n")
    team.publish("sales/leads", version="1.0.0")
    line = world.fails("E090", "yank", "sales/leads@1.0.0", "--reason", "x").stderr
    assert (
        "it needs the role maintainer for 'sales/leads'; this token gives: publisher below payments, no"
        in line
    )
    team.registry.accounts.remove_grant(SYSTEM, "ada", "payments")
    run = world.fails("E090", "login", team.url, "--token-env", "TEAM", env=env)
    assert "it needs the role reader; this token gives: no role" in run.stderr
