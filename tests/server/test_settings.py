"""registry.toml: what it sets, and what it refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillc.errors import InvalidConfiguration
from skillc.registry import RegistryConfig, Role
from skillc.server.settings import (
    GITHUB,
    GITLAB,
    SignInSettings,
    read_configuration,
)

WHOLE = """
[oidc]
issuer = "https://login.example.com"
client_id = "skillc"
client_secret_env = "MY_SECRET"
subject = "preferred_username"
groups = "roles"
scopes = ["openid", "email", "groups"]
allowed_domains = ["@Example.com"]
allowed_groups = ["staff"]
require_verified_email = false
default_role = "reader"
default_prefix = "docs"

[publishing]
github = ["https://ghe.example.com/_services/token"]
gitlab = []
audience = "skills"
"""


def read(tmp_path: Path, text: str) -> SignInSettings:
    path = tmp_path / "registry.toml"
    path.write_text(text)
    return read_configuration(str(path))[1]


def test_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Sign-in] every key; the secret comes from the environment, and is taken out of it."""
    monkeypatch.setenv("MY_SECRET", "s3cret")
    settings = read(tmp_path, WHOLE)
    oidc = settings.oidc
    assert oidc is not None
    assert (oidc.issuer, oidc.client_id, oidc.client_secret) == (
        "https://login.example.com",
        "skillc",
        "s3cret",
    )
    assert (oidc.subject, oidc.groups, oidc.scopes) == (
        "preferred_username",
        "roles",
        ("openid", "email", "groups"),
    )
    assert (oidc.domains, oidc.groups_allowed, oidc.needs_verified_email) == (
        ("example.com",),
        ("staff",),
        False,
    )
    assert (oidc.role, oidc.prefix) == (Role.READER, "docs")
    assert settings.publishing.kind("https://ghe.example.com/_services/token") == "github"
    assert settings.publishing.kind(GITHUB) == settings.publishing.kind(GITLAB) == ""
    assert "MY_SECRET" not in os.environ
    assert "s3cret" not in repr(settings)


def test_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Sign-in] without a table there is no issuer for people; GitHub and GitLab are known."""
    settings = read(tmp_path, "")
    assert settings == SignInSettings()
    assert settings.oidc is None
    assert (settings.publishing.kind(GITHUB), settings.publishing.kind(GITLAB)) == ("github", "gitlab")
    monkeypatch.setenv("SKILLC_OIDC_SECRET", "s3cret")
    oidc = read(tmp_path, '[oidc]\nissuer = "https://login.example.com"\nclient_id = "skillc"\n').oidc
    assert oidc is not None
    assert (oidc.subject, oidc.role, oidc.needs_verified_email) == ("email", None, True)
    assert oidc.client_secret == "s3cret"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("allowed_domains", "allowed_domain", "allowed_domain: there is no such setting"),
        ('["@Example.com"]', '"example.com"', "allowed_domains: it is a list"),
        ('["staff"]', "[1]", "allowed_groups: it is a list of texts"),
        ("= false", '= "no"', "require_verified_email: it is true or false"),
        ('"reader"', '"owner"', "default_role"),
        ('"docs"', '"Not a prefix"', "default_prefix"),
        ('issuer = "https://login.example.com"', "", "issuer: it is missing"),
        ('client_id = "skillc"', 'client_id = ""', "client_id: it is missing"),
        ("https://login", "http://login", "issuer"),
        ("https://ghe", "http://ghe", "github"),
        ('"openid", ', "", "'openid' is one of them"),
        ("[publishing]", "[publish]", "publish: there is no such setting"),
        ("[oidc]", "oidc = 1\n[x]", "oidc: it is a table"),
        ("[oidc]", "[oidc", "line|Expected"),
        ("client_secret_env", "client_secret", "client_secret: there is no such setting"),
    ],
)
def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, reason: str) -> None:
    """[SURFACES: Sign-in] a mistake is E071: a misspelled limit is not no limit."""
    monkeypatch.setenv("MY_SECRET", "s3cret")
    assert old in WHOLE
    with pytest.raises(InvalidConfiguration, match=reason) as caught:
        read(tmp_path, WHOLE.replace(old, new))
    assert "s3cret" not in str(caught.value)


def test_files(tmp_path: Path) -> None:
    """[SURFACES: Sign-in] a missing file, or no file, is E071; policies and the like are in the same one."""
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(InvalidConfiguration):
            read_configuration(str(path))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidConfiguration):
        read_configuration(str(tmp_path / "binary.toml"))
    path = tmp_path / "registry.toml"
    tables = '[policy]\nminimum_age = "3d"\n[review]\nprefixes = ["payments"]\n'
    path.write_text(f"{WHOLE}\n{tables}")
    assert read_configuration(str(path))[1].publishing.audience == "skills"
    assert RegistryConfig.load(str(path)).policies.minimum_age.days == 3
    path.write_text(f"{WHOLE}\n{tables}\n[polcy]\n")
    with pytest.raises(InvalidConfiguration, match="polcy"):
        read_configuration(str(path))
    with pytest.raises(InvalidConfiguration, match="polcy"):
        RegistryConfig.load(str(path))
