"""A registry with the policies and mirrors of its registry.toml, whichever way it is read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from skillc.errors import RegistryRefused, SkillNotFound
from skillc.registry import (
    SYSTEM,
    Caller,
    Permission,
    PolicyRegistry,
    Registry,
    RegistryConfig,
    Role,
    open_registry,
)
from skillc.server import ServerSettings, create_registry_app
from tests.registry.conftest import package
from tests.support.team import serve_registry

READER = Caller("cy", (Permission(Role.READER),))
MAINTAINER = Caller("di", (Permission(Role.MAINTAINER, "payments"),))


def opened(folder: Path, toml: str) -> Registry:
    config = RegistryConfig.parse(toml)
    return open_registry(
        str(folder / "registry.db"), "", config.review, partial(PolicyRegistry, config=config)
    )


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """The address of another registry, with the skill `tools/pdf`."""
    with open_registry(str(tmp_path / "elsewhere" / "registry.db")) as registry:
        registry.publish(SYSTEM, package("tools/pdf"), version="1.2.0")
        with serve_registry(registry, public=True) as (url, _):
            yield url


def test_policies(tmp_path: Path) -> None:
    """[SURFACES: Registry model] readers see what is allowed and old enough; maintainers see all."""
    with opened(tmp_path, '[policy]\nminimum_age = "3d"\ndeny = ["payments/legacy"]') as registry:
        for skill_id in ("payments/refunds", "payments/legacy", "other"):
            registry.publish(SYSTEM, package(skill_id))
        assert registry.skills(READER) == []
        with pytest.raises(SkillNotFound):
            registry.skill(READER, "payments/refunds")
        assert [skill.id for skill in registry.skills(MAINTAINER)] == ["payments/legacy", "payments/refunds"]
    with opened(tmp_path, '[policy]\ndeny = ["payments/legacy"]') as registry:
        assert [skill.id for skill in registry.skills(READER)] == ["other", "payments/refunds"]
        assert registry.skill(READER, "other").latest is not None
        client = TestClient(create_registry_app(registry, ServerSettings(public_read=True)))
        ids = [skill["id"] for skill in client.get("/skills").json()["skills"]]
        assert ids == ["other", "payments/refunds"]
        found = client.get("/search", params={"q": "legacy refunds"}).json()["results"]
        assert [result["id"] for result in found] == ["payments/refunds"]
        assert client.get("/skills/payments/legacy").status_code == 404


def test_mirror(tmp_path: Path, elsewhere: str) -> None:
    """[SURFACES: Registry model] what is not here comes from the mirror, for those who may read it."""
    with opened(tmp_path, f'[[mirror]]\nprefix = "community"\nurl = "{elsewhere}"') as registry:
        other = Caller("ed", (Permission(Role.READER, "payments"),))
        with pytest.raises(RegistryRefused):
            registry.skill(other, "community/tools/pdf")
        assert registry.skills(SYSTEM) == []
        client = TestClient(create_registry_app(registry, ServerSettings(public_read=True)))
        (version,) = client.get("/skills/community/tools/pdf/versions").json()["versions"]
        assert (version["version"], version["note"].startswith("mirrored from ")) == ("1.2.0", True)
        assert client.get("/skills/community/nothing/versions").status_code == 404
        assert client.get("/skills/payments/refunds/versions").status_code == 404
        assert [skill.id for skill in registry.skills(SYSTEM)] == ["community/tools/pdf"]
