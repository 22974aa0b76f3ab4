"""The OpenAPI document: valid, complete, and true of a server that gets requests made from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from skillc.server.api import OPERATIONS
from tests.support import examples
from tests.support.registry import Client, body, serving


def test_valid(client: Client) -> None:
    """[SURFACES: Registry] a valid document of OpenAPI 3.1 has every operation, with its role."""
    response = client.get("/openapi.json", headers={"Authorization": ""})
    document = response.json()
    OpenAPIV31SpecValidator(document).validate()
    assert document["openapi"] == "3.1.0"
    count = sum(len(methods) for methods in document["paths"].values())
    assert count == len(OPERATIONS)
    identifiers = [op["operationId"] for methods in document["paths"].values() for op in methods.values()]
    assert len({*identifiers}) == count
    assert client.get("/openapi.json", headers={"If-None-Match": response.headers["ETag"]}).status_code == 304
    paths = client.get("/openapi.json").json()["paths"]
    operations = [(path, op) for path, methods in paths.items() for op in methods.values()]
    without = {path for path, op in operations if not op["security"]}
    assert without >= {"/healthz", "/readyz", "/openapi.json"}
    assert all(
        op["x-role"] in ("reader", "publisher", "maintainer", "admin")
        for _, op in operations
        if op["security"]
    )
    assert all(op["responses"] for _, op in operations)


@pytest.mark.slow
def test_requests_from_the_document(tmp_path: Path) -> None:
    """[SURFACES: Registry] schemathesis finds no answer that the document does not allow, and no 500."""
    with serving(tmp_path / "home", "--no-rate-limit", "--no-request-log") as server:
        with server.client() as client:
            for number in range(3):
                client.post("/skills", json=body(f"team/s{number}", files={"a.txt": b"a"}))
        phases, most = (
            ("examples,coverage,fuzzing", "15") if examples.is_complete else ("examples,coverage", "3")
        )
        command = [
            *(str(Path(sys.executable).parent / "schemathesis"), "run", f"{server.url}/openapi.json"),
            *("--header", f"Authorization: Bearer {server.token}", "--max-examples", most),
            *("--phases", phases, "--seed", "1", "--no-color"),
            *("--exclude-checks", "positive_data_acceptance,ignored_auth"),
            *("--exclude-path", "/tokens/{token}"),  # it must not revoke its own token
        ]
        result = subprocess.run(
            command,
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"},
            capture_output=True,
            text=True,
            timeout=550,
            check=False,
        )
        log = server.log.read_text()
    assert result.returncode == 0, result.stdout[-30000:] + result.stderr[-2000:]
    assert log == ""
