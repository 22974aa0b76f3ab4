"""`skc token`: make, list and revoke the tokens of a registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillc import install
from skillc.cli import show
from skillc.cli.options import TO, registry_api, show_rows
from skillc.cli.syntax import Arguments, Command
from skillc.cli.usage_errors import check_action
from skillc.text import describe_roles, one_line

COLUMNS = ("id", "owner", "role", "prefix", "now", "label", "created_at", "expires_at", "revoked_at")
COMMAND = Command(f"""
skc token list
skc token create
skc token revoke <id>

A token may do what both its role and the grants of its owner allow. It is printed once, by 'create', with
what it may do as the grants are now, and can't be shown again. It may do no more, and lasts no longer, than
the token that makes it. 'revoke' ends it, and the tokens that were made with it. 'list' and 'revoke' reach
your own tokens that may do no more than the one you use; for an admin of the whole registry, all.

[action]  create, list or revoke. Default: list.
[id]  With revoke: the token's ID, which 'skc token list' shows.
--role reader|publisher|maintainer|admin @create  what the token may do. Default: reader.
--prefix <path> :collections @create  only the skills below this path.
--expires <time> @create  how long it is valid, such as 12h, 90d or 8w.
--label <text> @create  what it is for.
--owner <subject> @create  the subject that it is for; it needs an admin of the whole registry.
{TO}

$ skc token create --role publisher --prefix payments --expires 90d --label ci
$ skc token list
$ skc token revoke 0123456789abcdef
""")


def run(arguments: Arguments) -> int:
    action = check_action(arguments)
    with registry_api(arguments) as api:
        if action == "list":
            tokens = api.tokens()
            rows = tokens if arguments.as_json else [{**token, "now": _describe(token)} for token in tokens]
            return show_rows(arguments, "tokens", COLUMNS, rows, "No tokens.")
        if action == "revoke":
            token_id = arguments.text("id")
            api.revoke_token(token_id)
            value = {"id": token_id, "revoked": True, "registry": api.registry}
            return show(arguments, value, f"Revoked {token_id} in {api.registry}")
        fields = ("role", "prefix", "label", "owner")
        request: dict[str, Any] = {name: text for name in fields if (text := arguments.optional(name))}
        expires = arguments.optional("expires")
        if expires is not None:
            request["expires_in"] = install.parse_age(expires, "--expires")
        token = api.create_token(request)
    until = f", valid until {token.get('expires_at')}" if token.get("expires_at") else ""
    asked = describe_roles([(str(token.get("role")), str(token.get("prefix") or ""))])
    label = one_line(f"{asked}{until}")
    lines = [str(token["token"]), f"Token {one_line(token['id'])} ({label}). It is not shown again."]
    now = _describe(token)
    if now:
        advice = f"; {token.get('owner')} has no more, which 'skc grant add' changes"
        limit = "" if now == asked else advice
        lines.append(one_line(f"Now it may do: {now}{limit}"))
    return show(arguments, token, lines)


def _describe(token: Mapping[str, Any]) -> str:
    """Return what a token may do now; empty where the registry is too old to say so, or the token ended."""
    permissions = token.get("permissions")
    if not isinstance(permissions, list) or token.get("revoked_at"):
        return ""
    pairs = [
        (str(own.get("role")), str(own.get("prefix") or "")) for own in permissions if isinstance(own, dict)
    ]
    return describe_roles(pairs) if pairs else "nothing"
