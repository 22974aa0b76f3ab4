"""The manifest of a compiled skill: which source it was built from, and when [RFC-0001:C-MANIFEST]."""

from __future__ import annotations

from skillc import paths
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
_HASH_KEY = b'"source_hash": "'


def render(skill: str, source: str, source_hash: str, built_at: str) -> bytes:
    """The manifest's bytes."""
    from _json import encode_basestring_ascii as quoted  # what json uses, without the rest of it

    from skillc import __version__

    fields = {
        "skill": quoted(skill),
        "version": str(VERSION),
        "built_at": quoted(built_at),
        "source_hash": quoted(source_hash),
        "source": quoted(utf8_text(source)),
        "builder": quoted(f"skillc {__version__}"),
    }
    lines = ",\n".join(f'  "{key}": {value}' for key, value in fields.items())
    return f"{{\n{lines}\n}}\n".encode()


def read(runtime: str) -> bytes:
    """The bytes of a runtime directory's manifest, empty where there is none."""
    try:
        with open(paths.manifest_file(runtime), "rb") as file:
            return file.read()
    except OSError:
        return b""


def source_hash(manifest: bytes) -> str | None:
    """The source hash in a manifest, None where it is no valid one.

    Looks for the line that `render` writes before it loads a JSON parser, which costs as much
    as everything else a reading command does.
    """
    start = manifest.find(_HASH_KEY) + len(_HASH_KEY)
    digest = manifest[start : start + 64]
    if manifest.startswith(b'{\n  "skill": ') and manifest.endswith(b"}\n") and _is_digest(digest):
        return digest.decode()
    value = parse(manifest).get("source_hash")
    return value if isinstance(value, str) and value else None


def _is_digest(text: bytes) -> bool:
    return len(text) == 64 and not text.strip(b"0123456789abcdef")


def parse(manifest: bytes) -> dict[str, Any]:
    """The fields of a manifest, none where it is no JSON object."""
    import json

    try:
        fields = json.loads(manifest)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
