"""Accounts over HTTP: the caller, tokens, grants, the log of changes."""

from __future__ import annotations

from skillc.registry import Registry, Role
from skillc.registry.model import Grant
from skillc.server import ServerSettings
from tests.support.registry import Client, body, fault


def test_caller(registry: Registry) -> None:
    """[SURFACES: Registry] /whoami says subject, permissions and the token's end, and not the token."""
    value = Client(registry, Role.PUBLISHER, "payments").get("/whoami").json()
    assert value["subject"] == "admin"
    assert value["permissions"] == [{"role": "publisher", "prefix": "payments"}]
    assert value["expires_at"] is None
    assert len(value["token"]) == 16
    public = Client(registry, None, settings=ServerSettings(public_read=True)).get("/whoami").json()
    assert (public["subject"], public["token"]) == ("public", None)


def test_tokens(client: Client, registry: Registry) -> None:
    """[SURFACES: Registry] a token is shown once, narrower than its maker's, listed and revoked."""
    fields = {"role": "publisher", "prefix": "payments", "label": "CI", "expires_in": 3600}
    response = client.post("/tokens", json=fields)
    assert (response.status_code, response.headers["Cache-Control"]) == (201, "no-store")
    made = response.json()
    assert made["token"].startswith(f"skc_{made['id']}_")
    listed = client.get("/tokens")
    assert made["token"] not in listed.text
    assert [token["label"] for token in listed.json()["tokens"]][-1] == "CI"
    other = Client(registry, None)
    other.headers["Authorization"] = f"Bearer {made['token']}"
    assert other.get("/whoami").json()["permissions"] == [{"role": "publisher", "prefix": "payments"}]
    assert fault(other.post("/tokens", json={"role": "admin"})) == (403, "E090")
    assert other.post("/tokens", json={"prefix": "payments"}).json()["expires_at"] == made["expires_at"]
    assert client.delete(f"/tokens/{made['id']}").status_code == 204
    assert fault(other.get("/whoami")) == (401, "E090")
    assert fault(client.delete("/tokens/0000000000000000")) == (404, "E093")
    for wrong in ({"role": "king"}, {"expires_in": 0}, {"expires_in": 10**12}, {"expires_in": "1d"}):
        assert fault(client.post("/tokens", json=wrong)) == (422, "E100")


def test_tokens_of_others(client: Client, registry: Registry) -> None:
    """[SURFACES: Registry] others' tokens are for admins of the whole; a token ends none that may more."""
    admin = client.get("/whoami").json()["token"]
    small = Client(registry, Role.ADMIN, "payments")
    wanted = {"role": "reader", "prefix": "payments", "owner": "bob"}
    assert fault(small.post("/tokens", json=wanted)) == (403, "E090")
    assert client.post("/tokens", json=wanted).status_code == 201
    reader = Client(registry, Role.READER)
    for other in (small, reader):
        listed = [token["id"] for token in other.get("/tokens").json()["tokens"]]
        assert admin not in listed
        assert other.get("/whoami").json()["token"] in listed
        assert fault(other.delete(f"/tokens/{admin}")) == (404, "E093")
        assert other.delete(f"/tokens/{other.get('/whoami').json()['token']}").status_code == 204
    assert client.get("/whoami").status_code == 200


def test_grants(client: Client, registry: Registry) -> None:
    """[SURFACES: Registry] grants are set, listed and taken back; the last admin stays."""
    grant = {"subject": "mia", "role": "publisher", "prefix": "payments"}
    assert client.put("/grants", json=grant).json() == grant
    assert grant in client.get("/grants").json()["grants"]
    assert fault(client.put("/grants", json={**grant, "prefix": "No ID"})) == (400, "E070")
    query = {"subject": "mia", "prefix": "payments"}
    assert client.delete("/grants", params=query).status_code == 204
    assert fault(client.delete("/grants", params=query)) == (404, "E093")
    assert fault(client.delete("/grants", params={"subject": "admin"})) == (400, "E062")
    small = Client(registry, Role.MAINTAINER)
    assert fault(small.put("/grants", json=grant)) == (403, "E090")


def test_log(client: Client, registry: Registry) -> None:
    """[SURFACES: Registry] the log has every write, in pages; others see their own alone."""
    client.post("/skills", json=body("payments/refunds"))
    changes = client.get("/audit-log").json()["changes"]
    assert [change["sequence"] for change in changes] == list(range(1, len(changes) + 1))
    assert changes[-1]["action"] == "publish"
    page = client.get("/audit-log", params={"limit": 2}).json()
    assert (len(page["changes"]), page["next_since"]) == (2, 2)
    rest = client.get("/audit-log", params={"since": 2}).json()
    assert page["changes"] + rest["changes"] == changes
    assert "next_since" not in rest
    admin = registry.accounts.authenticate(client.headers["Authorization"].partition(" ")[2])
    registry.accounts.grant(admin, Grant("mia", Role.PUBLISHER))
    secret = registry.accounts.create_token(admin, Role.PUBLISHER, owner="mia").secret
    mia = Client(registry, None)
    mia.headers["Authorization"] = f"Bearer {secret}"
    assert mia.get("/audit-log").json()["changes"] == []
    mia.post("/skills", json=body("payments/invoices"))
    assert [change["skill"] for change in mia.get("/audit-log").json()["changes"]] == ["payments/invoices"]


def test_public_readers_have_no_account(registry: Registry) -> None:
    """[SURFACES: Registry] reading without a token shows skills, never tokens, grants or the log."""
    Client(registry).post("/skills", json=body("payments/refunds"))
    public = Client(registry, None, settings=ServerSettings(public_read=True))
    assert public.get("/skills/payments/refunds").status_code == 200
    for path in ("/tokens", "/grants", "/audit-log"):
        assert fault(public.get(path)) == (401, "E090")
    refused = public.post("/skills", json=body("payments/other"))
    assert (fault(refused), refused.headers["WWW-Authenticate"]) == ((401, "E090"), "Bearer")
