"""registry.toml: what it sets, and what it refuses."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.errors import InvalidConfiguration, SkillNotFound
from skillc.registry import SYSTEM, Finder, Policies, RegistryConfig, RegistryUpstream, ReviewRules
from skillc.registry.config import MirrorConfig
from skillc.registry.mirror import GitUpstream
from skillc.remotes.git import GitRef
from tests.registry.conftest import Clock, Team, package
from tests.support.cases import each

WHOLE = """
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
    path = tmp_path / "registry.toml"
    path.write_text(WHOLE)
    config = RegistryConfig.load(str(path))
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
    assert RegistryConfig.parse("") == RegistryConfig(policies=RegistryConfig.parse("").policies)


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
        RegistryConfig.load(str(path))
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
            RegistryConfig.load(str(tmp_path / name))


@given(
    st.text()
    | st.sampled_from(WHOLE.split("\n\n")).flatmap(
        lambda t: st.builds(t.replace, st.sampled_from('"[]=3'), st.text(max_size=3))
    )
)
def test_any_text(text: str) -> None:
    """[SURFACES: Registry model] whatever is in it, it is a configuration or a ValueError."""
    try:
        assert isinstance(RegistryConfig.parse(text), RegistryConfig)
    except ValueError:
        pass


def test_policies_hide_and_index(registry: Team, clock: Clock, tmp_path: Path) -> None:
    """[SURFACES: Registry model] what policies hide from a source is what they hide from searches."""
    policies = Policies(timedelta(days=3), ("payments",), ("payments/legacy",), "review", clock)
    for name, level in (("payments/good", "review"), ("payments/bad", "block"), ("legal/good", "note")):
        registry.publish(SYSTEM, package(name), audit={"findings": [{"level": level}]})
    registry.publish(SYSTEM, package("payments/legacy"), audit={})
    registry.publish(SYSTEM, package("payments/unknown"))
    clock.move(days=3)
    registry.publish(SYSTEM, package("payments/young"), audit={})
    source = registry.source(SYSTEM, policies.allows)
    assert [str(skill.id) for skill in source.skills()] == ["payments/good"]
    with pytest.raises(SkillNotFound):
        source.skill("payments/bad")
    registry.policies = policies
    finder = Finder(registry, str(tmp_path / "index"))
    finder.refresh()
    assert [skill.id for skill in finder.find(SYSTEM, "text good bad young legacy")] == ["payments/good"]
    finder.close()
    everything = registry.source(SYSTEM, Policies().allows)
    assert len([*everything.skills()]) == 6
    assert len([*everything.skills("payments", "payments/legacy")]) == 2
