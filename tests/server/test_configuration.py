"""registry.toml: what it sets, and what it refuses."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.errors import InvalidConfiguration
from skillc.registry import RegistryConfig, RegistryUpstream, ReviewRules, Role
from skillc.registry.mirror import GitUpstream, MirrorConfig
from skillc.remotes.git import GitRef
from skillc.server.configuration import read_configuration
from skillc.server.settings import GITHUB, GITLAB, SignInSettings
from tests.support.cases import each

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


def read(tmp_path: Path, text: str) -> tuple[RegistryConfig, SignInSettings]:
    path = tmp_path / "registry.toml"
    path.write_text(text)
    config, settings = read_configuration(str(path))
    return config, settings.sign_in


def test_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Sign-in] every key; the secret comes from the environment, and is taken out of it."""
    monkeypatch.setenv("MY_SECRET", "s3cret")
    settings = read(tmp_path, WHOLE)[1]
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
    settings = read(tmp_path, "")[1]
    assert settings == SignInSettings()
    assert settings.oidc is None
    assert (settings.publishing.kind(GITHUB), settings.publishing.kind(GITLAB)) == ("github", "gitlab")
    monkeypatch.setenv("SKILLC_OIDC_SECRET", "s3cret")
    oidc = read(tmp_path, '[oidc]\nissuer = "https://login.example.com"\nclient_id = "skillc"\n')[1].oidc
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
    config, settings = read_configuration(str(path))
    assert (settings.sign_in.publishing.audience, config.policies.minimum_age.days) == ("skills", 3)
    path.write_text(f"{WHOLE}\n{tables}\n[polcy]\n")
    with pytest.raises(InvalidConfiguration, match="polcy"):
        read_configuration(str(path))


# Policies, reviews and mirrors

TABLES = """
[policy]
minimum_age = "3d"
allow = ["payments", "community"]
deny = ["payments/legacy"]
audited = true

[review]
prefixes = ["payments"]
findings = "review"

[[mirror]]
prefix = "community"
url = "https://skills.example.org"

[[mirror]]
prefix = "vendor/acme"
git = "https://git.example.org/acme/skills.git"
tag = "v1"
folder = "skills"
"""


def test_all_settings(tmp_path: Path) -> None:
    """[SURFACES: Registry model] policies, reviews and mirrors are read from one file."""
    config = read(tmp_path, TABLES)[0]
    policies = config.policies
    assert (policies.minimum_age, policies.audited) == (timedelta(days=3), "note")
    assert (policies.allow, policies.deny) == (("payments", "community"), ("payments/legacy",))
    assert config.review == ReviewRules(("payments",), "review")
    assert config.mirrors == (
        MirrorConfig("community", "https://skills.example.org"),
        MirrorConfig(
            "vendor/acme",
            git="https://git.example.org/acme/skills.git",
            ref=GitRef.tag("v1"),
            folder="skills",
        ),
    )
    assert isinstance(config.mirrors[0].open(), RegistryUpstream)
    assert isinstance(config.mirrors[1].open(), GitUpstream)
    assert read(tmp_path, "")[0] == read_configuration("")[0] == RegistryConfig()


@each(
    ("text", "reason"),
    [
        ("[policy", "Expected"),
        ("[other]", "other: there is no such setting"),
        ("[policy]\nage = 3", "[policy] age: there is no such setting"),
        ("policy = 3", "policy: it is a table"),
        ("[policy]\nminimum_age = 3", "[policy] minimum_age: it is text"),
        ('[policy]\nminimum_age = "3 days"', "such as"),
        ('[policy]\nminimum_age = "-1d"', "such as"),
        ('[policy]\nminimum_age = "999999d"', "3650"),
        ('[policy]\nallow = "payments"', "allow: it is a list"),
        ("[policy]\nallow = [1]", "list"),
        ('[policy]\ndeny = [""]', "list"),
        ('[policy]\ndeny = ["../x"]', "[policy] deny: invalid skill id"),
        ('[policy]\naudited = "some"', "one of note, review, block"),
        ('[review]\nfindings = "all"', "one of"),
        ("[[mirror]]", "prefix"),
        ('[[mirror]]\nprefix = "a"', "either"),
        ('[[mirror]]\nprefix = "a"\nurl = "https://h"\ngit = "https://h/x"', "either"),
        ('[[mirror]]\nprefix = "a"\nurl = "http://example.org"', "https"),
        ('[[mirror]]\nprefix = "a"\nurl = "https://user:geheim@h"', "no user"),
        ('[[mirror]]\nprefix = "a"\nurl = "file:///etc"', "https"),
        ('[[mirror]]\nprefix = "a"\nurl = "https://h"\nbranch = "b"', "'git' alone"),
        ('[[mirror]]\nprefix = "a"\ngit = "https://h/x"\nbranch = "b"\ntag = "t"', "one branch"),
        ('[[mirror]]\nprefix = "a"\ngit = "https://h/x"\nbranch = "--x y"', "git"),
        ('[[mirror]]\nprefix = "a"\ngit = "https://h/x"\nfolder = "../x"', "folder"),
        ('[[mirror]]\nprefix = "a\\u0007"\nurl = "https://h"', "printable"),
        (
            '[[mirror]]\nprefix = "a"\nurl = "https://h"\n[[mirror]]\nprefix = "a/b"\nurl = "https://h"',
            "twice",
        ),
        ("mirror = [1]", "tables"),
        ("a = " + "[" * 5000, ""),
    ],
)
def test_faults(text: str, reason: str, tmp_path: Path) -> None:
    """[SURFACES: Registry model] a fault is one line that names the file and the setting, without secrets."""
    path = tmp_path / "registry.toml"
    path.write_text(text)
    with pytest.raises(InvalidConfiguration) as caught:
        read_configuration(str(path))
    assert reason in caught.value.message
    assert str(path) in caught.value.message
    assert "\n" not in caught.value.message
    assert "geheim" not in caught.value.message


def test_a_file_that_is_none(tmp_path: Path) -> None:
    """[SURFACES: Registry model] a missing file, a folder, a pipe and bytes that are no text are refused."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_bytes(b"#" * ((1 << 20) + 1))
    for name in ("missing", "folder", "pipe", "bytes", "large"):
        with pytest.raises(InvalidConfiguration):
            read_configuration(str(tmp_path / name))


@given(
    st.text()
    | st.sampled_from(TABLES.split("\n\n")).flatmap(
        lambda t: st.builds(t.replace, st.sampled_from('"[]=3'), st.text(max_size=3))
    )
)
def test_any_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """[SURFACES: Registry model] whatever is in it, it is a configuration or E071."""
    path = tmp_path_factory.getbasetemp() / "registry.toml"
    path.write_text(text, "utf-8", "surrogatepass")
    with suppress(InvalidConfiguration):
        assert isinstance(read_configuration(str(path))[0], RegistryConfig)


def test_signers_and_keys(tmp_path: Path) -> None:
    """[SURFACES: Attestations] [trust] and [attestation] name files beside the file; a misspelled rule is no
    rule less."""
    path = tmp_path / "registry.toml"
    path.write_text(
        '[attestation]\nkeys = ["a.pem"]\n[[trust.prefix]]\nname = "payments"\nrequire = "signed"\n'
    )
    _, settings = read_configuration(str(path))
    assert settings.keys == (str(tmp_path / "a.pem"),)
    assert settings.trust.rule_for(["payments/refunds"]).is_required
    for text in ("[trust]\nrequired = 1\n", "[attestation]\nkey = 1\n", "trust = 1\n"):
        path.write_text(text)
        with pytest.raises(InvalidConfiguration):
            read_configuration(str(path))
