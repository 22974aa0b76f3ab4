"""Secrets that are planted, and the search for them: as they are, quoted, in base64, in hexadecimal."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote


class Planted:
    """Secrets by name. `find` names those that a text holds, in whatever form."""

    def __init__(self, **secrets: str) -> None:
        self.secrets = secrets
        self._forms = {name: sorted(set(_forms(secret))) for name, secret in secrets.items()}

    def find(self, text: str | bytes) -> list[str]:
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        return [name for name, forms in self._forms.items() if any(form in data for form in forms)]

    def search(self, *roots: Path) -> dict[str, list[str]]:
        """Files below `roots` that hold a secret, in what they hold or in their name."""
        found = {}
        for root in roots:
            for path in [root, *root.rglob("*")]:
                names = self.find(str(path))
                if path.is_symlink():
                    names += self.find(str(path.readlink()))
                elif path.is_file():
                    names += self.find(path.read_bytes())
                if names:
                    found[str(path)] = names
        return found


def _forms(secret: str) -> Iterator[bytes]:
    raw = secret.encode()
    yield raw
    yield quote(secret, safe="").encode()
    yield raw.hex().encode()
    yield raw.decode("latin-1").encode("utf-16-le")
    for shift, start in enumerate((0, 3, 4)):  # base64 of whatever has it inside, without what is around
        coded = base64.b64encode(b"\0" * shift + raw)
        yield coded[start : (shift + len(raw)) // 3 * 4]
