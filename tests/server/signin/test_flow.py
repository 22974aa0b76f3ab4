"""The issuers that a server knows, and the extra that they need."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import pytest

from skillc.errors import InvalidParameter, MissingExtra
from skillc.server.signin.flow import Directory

MODULE = "skillc.server.signin.issuers"


def test_one_for_each_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Sign-in] an issuer keeps its keys; without the extra it is E201 that says what to
    install.
    """
    directory = Directory(lambda: datetime.now(UTC))
    issuer = directory.get("https://login.example.com")
    assert directory.get("https://login.example.com") is issuer
    assert directory.get("https://login.example.com/") is not issuer
    with pytest.raises(InvalidParameter):
        directory.get("http://login.example.com")
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    monkeypatch.setitem(sys.modules, "joserfc", None)
    with pytest.raises(MissingExtra, match=r"joserfc: .*'skillc\[sso\]'"):
        Directory(lambda: datetime.now(UTC)).get("https://login.example.com")
