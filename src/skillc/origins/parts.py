"""List the skills of a lock as parts, in the form of CycloneDX 1.6, and say under which licence each is.

Purl has no type for skills yet: a repository of GitHub is `pkg:github`, anything else `pkg:generic`. A
licence is what the frontmatter names, else what a LICENSE file is known by.

>>> read_licence("Apache 2.0"), read_licence("MIT OR Apache-2.0").is_expression
(Licence(id='Apache-2.0', text=''), True)
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from skillc import __version__, paths
from skillc.origins.signature import UNSIGNED, Signature
from skillc.text import cut, fold_line

_SPACE = uuid.UUID("6f0d7f3c-4f0e-5d0a-9c1b-6d1f0a5c2e11")  # of our own, for numbers of documents
MAX_FILE = 1 << 20  # bytes of a licence
MAX_TEXT = 100  # characters of a licence that has no identifier
# Identifiers of SPDX that skills have; any other text is shown as it is.
_IDS = """
    0BSD AGPL-3.0-only AGPL-3.0-or-later Apache-2.0 Artistic-2.0 BSD-2-Clause BSD-3-Clause BSL-1.0 BUSL-1.1
    CC-BY-4.0 CC-BY-NC-4.0 CC-BY-NC-SA-4.0 CC-BY-SA-4.0 CC0-1.0 ECL-2.0 EPL-2.0 EUPL-1.2 GPL-2.0-only
    GPL-2.0-or-later GPL-3.0-only GPL-3.0-or-later ISC LGPL-2.1-only LGPL-3.0-only LGPL-3.0-or-later MIT MIT-0
    MPL-2.0 MS-PL MulanPSL-2.0 OFL-1.1 PostgreSQL Unlicense WTFPL Zlib
"""
_ALIASES = {
    "apache2": "Apache-2.0",
    "apache2.0": "Apache-2.0",
    "mit": "MIT",
    "gplv3": "GPL-3.0-only",
    "gpl3.0": "GPL-3.0-only",
    "agplv3": "AGPL-3.0-only",
    "bsd3clause": "BSD-3-Clause",
    "ccby4.0": "CC-BY-4.0",
}
_KNOWN = {each.lower(): each for each in _IDS.split()}
# Words at the beginning of licences, in the order in which they are looked for.
_PHRASES = (
    ("gnu affero general public license version 3", "AGPL-3.0-only"),
    ("gnu lesser general public license version 3", "LGPL-3.0-only"),
    ("gnu general public license version 3", "GPL-3.0-only"),
    ("gnu general public license version 2", "GPL-2.0-only"),
    ("apache license version 2.0", "Apache-2.0"),
    ("mozilla public license version 2.0", "MPL-2.0"),
    ("creative commons attribution-noncommercial 4.0", "CC-BY-NC-4.0"),
    ("creative commons attribution-sharealike 4.0", "CC-BY-SA-4.0"),
    ("attribution-sharealike 4.0 international", "CC-BY-SA-4.0"),
    ("attribution 4.0 international", "CC-BY-4.0"),
    ("cc0 1.0 universal", "CC0-1.0"),
    ("this is free and unencumbered software", "Unlicense"),
    ("permission to use, copy, modify, and/or distribute this software", "ISC"),
    ("neither the name of", "BSD-3-Clause"),
    ("redistribution and use in source and binary forms", "BSD-2-Clause"),
    ("permission is hereby granted, free of charge", "MIT"),
)
_FILE = re.compile(r"(licen[cs]e|copying|unlicense)([.-].*)?", re.IGNORECASE)
_WORDS = re.compile(r"[\s,()]+")


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence: its identifier at SPDX, or an expression of several, or else a text."""

    id: str = ""
    text: str = ""

    @property
    def is_expression(self) -> bool:
        return " " in self.id

    @property
    def label(self) -> str:
        return self.id or self.text


def read_licence(text: str) -> Licence:
    """Return what a text such as `MIT` or `Apache 2.0` names."""
    whole = re.fullmatch(r"\s*\(([^()]*)\)\s*", text)  # other brackets say what belongs together
    words = re.split(r"\s+(OR|AND)\s+", (whole[1] if whole else text).strip())
    ids = [word if word in ("OR", "AND") else _find_id(word) for word in words]
    if all(ids):
        return Licence(" ".join(map(str, ids)))
    return Licence("", cut(fold_line(text), MAX_TEXT))


def _find_id(word: str) -> str | None:
    plain = re.sub(r"[\s-]|licen[cs]e$", "", word.lower()).removeprefix("the")
    return _KNOWN.get(word.lower()) or _ALIASES.get(plain)


def find_licence(folder: str, named: object = None) -> Licence:
    """Return the licence of a skill: `named` is what its frontmatter has in `license`."""
    licence = read_licence(named) if isinstance(named, str) else Licence()
    if licence.id:
        return licence
    for name in sorted(paths.list_names(folder)):
        if not _FILE.fullmatch(name):
            continue
        try:
            text = paths.read_regular(os.path.join(folder, name), MAX_FILE).decode("utf-8", "replace")
        except OSError:
            continue
        plain = _WORDS.sub(" ", text.lower().replace(",", ""))
        phrase = next((each for words, each in _PHRASES if words.replace(",", "") in plain), "")
        if phrase:
            return Licence(phrase)
        licence = licence if licence.text else Licence("", f"see {name}")
    return licence


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
    signer: Signature | None = None
    needs: tuple[str, ...] = ()  # names of other parts

    @property
    def purl(self) -> str:
        """The package URL: `pkg:github/owner/repo@<commit>#<path>` or `pkg:generic/<name>@<version>`.

        >>> Part("pdf", "", "", "", Licence(), "", "acme/skills", "skills/pdf", "12ab").purl
        'pkg:github/acme/skills@12ab#skills/pdf'
        """
        version = (self.commit if self.repository else "") or self.version
        tail = f"@{quote(version, safe='')}" if version else ""
        if self.repository:
            path = f"#{quote(self.path)}" if self.path else ""
            return f"pkg:github/{quote(self.repository.lower())}{tail}{path}"
        query = f"?download_url={quote(self.address, safe='')}" if self.address else ""
        return f"pkg:generic/{quote(self.name, safe='')}{tail}{query}"

    def component(self) -> dict[str, Any]:
        """Return it as a component of CycloneDX; what is not known is left out."""
        licence: dict[str, Any] = {"license": {"id": self.licence.id}}
        if self.licence.is_expression:
            licence = {"expression": self.licence.id}
        elif not self.licence.id:
            licence = {"license": {"name": self.licence.text}}
        signer = self.signer or UNSIGNED
        properties = {
            "skillc:source": self.source,
            "skillc:digest-method": "skillc-digest-1" if self.digest else "",
            "skillc:signer": signer.signer,
            "skillc:signer-key": signer.key,
            "skillc:signature-kind": signer.kind,
        }
        fields: dict[str, Any] = {
            "type": "data",
            "bom-ref": self.name,
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "hashes": [{"alg": "SHA-256", "content": self.digest}] if self.digest else [],
            "licenses": [licence] if self.licence.label else [],
            "purl": self.purl,
            "properties": [{"name": key, "value": value} for key, value in properties.items() if value],
        }
        return {key: value for key, value in fields.items() if value}


def make_document(parts: Sequence[Part], name: str) -> dict[str, Any]:
    """Return a CycloneDX document about the skills of a project; the same parts give the same document."""
    components = [part.component() for part in parts]
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
