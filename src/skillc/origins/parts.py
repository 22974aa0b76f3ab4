"""List the skills of a lock as parts, in the form of CycloneDX 1.6.

Each part has its digest, its licence, where it comes from as a package URL, and the signer that the lock has.
Purl has no type for skills yet: a repository of GitHub is `pkg:github`, anything else `pkg:generic`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from skillc import __version__
from skillc.origins.licences import Licence
from skillc.origins.signature import Pin

FORMAT = "cyclonedx"
_SPACE = uuid.UUID("6f0d7f3c-4f0e-5d0a-9c1b-6d1f0a5c2e11")  # of our own, for numbers of documents


@dataclass(frozen=True, slots=True)
class Part:
    """A locked skill, as a list of parts has it."""

    name: str
    description: str
    version: str
    digest: str  # D64's, in hexadecimal
    licence: Licence
    source: str
    repository: str = ""  # owner/repo at GitHub
    path: str = ""  # of the skill in its repository
    commit: str = ""
    address: str = ""  # that it was downloaded from
    signer: Pin | None = None
    needs: tuple[str, ...] = ()  # names of other parts

    @property
    def purl(self) -> str:
        """The package URL: `pkg:github/owner/repo@<commit>#<path>` or `pkg:generic/<name>@<version>`.

        >>> Part("pdf", "", "", "", Licence(), "", "acme/skills", "skills/pdf", "12ab").purl
        'pkg:github/acme/skills@12ab#skills/pdf'
        """
        if self.repository:
            words = [f"pkg:github/{quote(self.repository.lower())}"]
            words.append(
                f"@{quote(self.commit or self.version, safe='')}" if self.commit or self.version else ""
            )
            return "".join([*words, f"#{quote(self.path)}" if self.path else ""])
        version = f"@{quote(self.version, safe='')}" if self.version else ""
        query = f"?download_url={quote(self.address, safe='')}" if self.address else ""
        return f"pkg:generic/{quote(self.name, safe='')}{version}{query}"


def make_document(parts: Sequence[Part], name: str) -> dict[str, Any]:
    """Return a CycloneDX document about the skills of a project; the same parts give the same document."""
    components = [_component(part) for part in parts]
    number = uuid.uuid5(_SPACE, json.dumps([name, components], sort_keys=True))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {
            "tools": {"components": [{"type": "application", "name": "skillc", "version": __version__}]},
            "component": {"type": "application", "name": name, "bom-ref": "project"},
        },
        "components": components,
        "dependencies": [
            {"ref": "project", "dependsOn": [part.name for part in parts]},
            *({"ref": part.name, "dependsOn": list(part.needs)} for part in parts if part.needs),
        ],
    }


def _component(part: Part) -> dict[str, Any]:
    licence: dict[str, Any] = {"license": {"id": part.licence.id}}
    if part.licence.is_expression:
        licence = {"expression": part.licence.id}
    elif not part.licence.id:
        licence = {"license": {"name": part.licence.text}}
    properties = {
        "skillc:source": part.source,
        "skillc:digest-method": "skillc-digest-1" if part.digest else "",
        "skillc:signer": part.signer.signer if part.signer else "",
        "skillc:signer-key": part.signer.key if part.signer else "",
        "skillc:signature-kind": part.signer.kind if part.signer else "",
    }
    fields: dict[str, Any] = {
        "type": "data",
        "bom-ref": part.name,
        "name": part.name,
        "version": part.version,
        "description": part.description,
        "hashes": [{"alg": "SHA-256", "content": part.digest}] if part.digest else [],
        "licenses": [licence] if part.licence.label else [],
        "purl": part.purl,
        "properties": [{"name": key, "value": value} for key, value in properties.items() if value],
    }
    return {key: value for key, value in fields.items() if value}
