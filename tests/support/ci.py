"""Jobs of CI: the endpoint of GitHub's runner that gives ID tokens, on loopback, and variables of jobs."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.http import Chunks, Request, Stub, page
from tests.support.issuer import Issuer


class Runner:
    """A runner of GitHub Actions: it gives ID tokens of an issuer to those who know the job's secret."""

    def __init__(self, issuer: Issuer, stub: Stub) -> None:
        self.secret = f"runner-{secrets.token_hex(16)}"
        self.audiences: list[str] = []
        self.tokens: list[str] = []
        self.claims: dict[str, Any] = {}  # over those of a usual job
        self.failures: list[bytes] = []  # what the next requests are answered with instead
        self._issuer = issuer
        self._stub = stub
        stub.answer = self._answer

    @property
    def requests(self) -> list[Request]:
        return self._stub.requests

    @property
    def variables(self) -> dict[str, str]:
        """What a job sees that has `permissions: id-token: write`."""
        return {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{self._stub.url}/token/1?api-version=2.0",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": self.secret,
        }

    def _answer(self, request: Request) -> Chunks:
        if self.failures:
            return [self.failures.pop(0)]
        query = {name: value for name, (value,) in parse_qs(urlsplit(request.path).query).items()}
        if request.headers.get("authorization") != f"Bearer {self.secret}" or query["api-version"] != "2.0":
            return [page({"message": "no"}, 403)]
        self.audiences.append(query["audience"])
        self.tokens.append(self._issuer.sign(self._issuer.claims(aud=query["audience"], **self.claims)))
        return [page({"value": self.tokens[-1], "count": 1})]


@contextmanager
def running_runner(issuer: Issuer) -> Iterator[Runner]:
    stub = Stub()
    try:
        yield Runner(issuer, stub)
    finally:
        stub.close()
