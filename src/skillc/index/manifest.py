"""The manifest of a compiled skill: which source it was built from, and when [RFC-0001:C-MANIFEST]."""

from __future__ import annotations

from skillc import paths
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
_HASH_KEY = b'"source_hash": "'


def render_manifest(skill: str, source: str, source_hash: str, built_at: str) -> bytes:
    """Return the bytes of a manifest."""
    from _json import encode_basestring_ascii as quote  # what json uses, without the rest of it

    from skillc import __version__

    fields = {
        "skill": quote(skill),
        "version": str(VERSION),
        "built_at": quote(built_at),
        "source_hash": quote(source_hash),
        "source": quote(utf8_text(source)),
        "builder": quote(f"skillc {__version__}"),
    }
    lines = ",\n".join(f'  "{key}": {value}' for key, value in fields.items())
    return f"{{\n{lines}\n}}\n".encode()


def read_manifest(runtime: str) -> bytes:
    """Return the bytes of a runtime directory's manifest, empty where there is none."""
    try:
        with open(paths.manifest_file(runtime), "rb") as file:
            return file.read()
    except OSError:
        return b""


def find_source_hash(manifest: bytes) -> str | None:
    """Return the source hash in a manifest, None where it is not valid.

    Looks for the line that `render` writes before it loads a JSON parser, which costs as much
    as everything else a reading command does.
    """
    start = manifest.find(_HASH_KEY) + len(_HASH_KEY)
    digest = manifest[start : start + 64]
    is_digest = len(digest) == 64 and not digest.strip(b"0123456789abcdef")
    if is_digest and manifest.startswith(b'{\n  "skill": ') and manifest.endswith(b"}\n"):
        return digest.decode()
    value = parse_manifest(manifest).get("source_hash")
    return value if isinstance(value, str) and value else None


def parse_manifest(manifest: bytes) -> dict[str, Any]:
    """Return the fields of a manifest, none where it is no JSON object."""
    import json

    try:
        fields = json.loads(manifest)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
