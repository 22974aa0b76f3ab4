"""Serve repositories to git over HTTP, for reading: the smart protocol, version 0, which all clients know.

    GET  <repository>/info/refs?service=git-upload-pack
    POST <repository>/git-upload-pack

A repository has one commit on `main`, without a history, so that a shallow clone is like any other. The same
files, message and time make the same repository, byte by byte.

>>> files = {"SKILL.md": (b"text", False)}
>>> make_repository(files, "one", 0).commit
'e07041314b5c462ff0fee466df01b9a7930d6b99'
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from skillc import __version__
from skillc.server.protocols.requests import read_body
from skillc.server.responses import Refusal

SERVICE = "git-upload-pack"
BRANCH = "refs/heads/main"
MAX_REQUEST = 1 << 20  # bytes of what a client has and wants
MAX_LINE = 65520
MAX_BAND = MAX_LINE - 5  # bytes of a pack in a line
CAPABILITIES = f"side-band-64k shallow ofs-delta no-progress symref=HEAD:{BRANCH} agent=skillc/{__version__}"
HEADERS = {"Cache-Control": "no-cache, private", "X-Content-Type-Options": "nosniff"}
FLUSH = b"0000"
AUTHOR = "skillc <registry@skillc.invalid>"
COMMIT, TREE, BLOB = 1, 2, 3
_NAMES = {COMMIT: "commit", TREE: "tree", BLOB: "blob"}
Files = Mapping[str, tuple[bytes, bool]]  # by path: the bytes, and whether the file can be run


def advertise(request: Request, repository: Repository) -> Response:
    """Say which commit there is."""
    if request.query_params.get("service") != SERVICE:
        raise Refusal(403, "only git-upload-pack is served: clone and fetch")
    lines = [
        _line(f"# service={SERVICE}\n"),
        FLUSH,
        _line(f"{repository.commit} HEAD\0{CAPABILITIES}\n"),
        _line(f"{repository.commit} {BRANCH}\n"),
        FLUSH,
    ]
    return Response(b"".join(lines), headers=HEADERS, media_type=f"application/x-{SERVICE}-advertisement")


async def read_wants(request: Request) -> list[str]:
    """Return the lines of a request for a pack; raises Refusal for one that is none."""
    data = await read_body(request, MAX_REQUEST)
    if request.headers.get("Content-Encoding", "identity") in ("gzip", "x-gzip"):
        data = _unzip(data)
    return list(_split(data))


def upload_pack(lines: list[str], repository: Repository) -> Response:
    """Send the pack where the client has said all; before that, what it has in common with us."""
    wants = [line.split(" ") for line in lines if line.startswith("want ")]
    other = next((words[1] for words in wants if words[1] != repository.commit), "" if wants else "nothing")
    if other:
        return _respond([_line(f"ERR upload-pack: not our ref {other[:40]}\n")])
    answer = []
    if any(line.startswith("deepen") for line in lines):
        answer.append(FLUSH)  # no commit is cut off from others
    if "done" in lines or any(line.startswith("have ") for line in lines):
        has = f"have {repository.commit}" in lines
        answer.append(_line(f"ACK {repository.commit}\n" if has else "NAK\n"))
    if "done" in lines:
        answer += _band(repository.pack) if "side-band-64k" in wants[0] else [repository.pack]
    return _respond(answer)


def _respond(answer: list[bytes]) -> Response:
    return Response(b"".join(answer), headers=HEADERS, media_type=f"application/x-{SERVICE}-result")


def _band(pack: bytes) -> list[bytes]:
    pieces = (pack[start : start + MAX_BAND] for start in range(0, len(pack), MAX_BAND))
    return [*(_line(b"\1" + piece) for piece in pieces), FLUSH]


def _line(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return f"{len(data) + 4:04x}".encode() + data


def _split(data: bytes) -> Iterator[str]:
    """Yield the lines of a request, flushes left out."""
    position = 0
    while position < len(data):
        try:
            size = int(data[position : position + 4].decode("ascii"), 16)
        except (ValueError, UnicodeDecodeError):
            raise Refusal(400, "the request is not git's") from None
        if size < 4:  # a flush or a delimiter
            size = 4
        line = data[position + 4 : position + size]
        if len(line) != size - 4:
            raise Refusal(400, "the request is not complete")
        if line:
            yield line.decode("utf-8", "replace").rstrip("\n")
        position += size


def _unzip(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        text = unpacker.decompress(data, MAX_REQUEST)
    except zlib.error:
        raise Refusal(400, "the request is not packed with gzip") from None
    if unpacker.unconsumed_tail:
        raise Refusal(413, "the request is too large")
    return text


@dataclass(frozen=True, slots=True)
class Repository:
    """A commit, and the pack with it and all that it needs."""

    commit: str
    pack: bytes


def make_repository(files: Files, message: str, time: int) -> Repository:
    """Return a repository whose one commit, of this time in seconds since 1970, has these files."""
    objects: dict[bytes, bytes] = {}
    tree = _add_tree(objects, _nest(files))
    lines = (f"tree {tree.hex()}", f"author {AUTHOR} {time} +0000", f"committer {AUTHOR} {time} +0000")
    commit = _add(objects, COMMIT, "\n".join([*lines, "", message, ""]).encode())
    content = b"".join([b"PACK", (2).to_bytes(4), len(objects).to_bytes(4), *objects.values()])
    return Repository(commit.hex(), content + hashlib.sha1(content, usedforsecurity=False).digest())


def _nest(files: Files) -> dict[str, Any]:
    """Return the files as folders within folders."""
    root: dict[str, Any] = {}
    for path, file in sorted(files.items()):
        *folders, name = path.split("/")
        place = root
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = file
    return root


def _add_tree(objects: dict[bytes, bytes], folder: dict[str, Any]) -> bytes:
    entries: list[tuple[bytes, bytes]] = []  # git sorts a folder as if its name ended in a slash
    for name, value in folder.items():
        if isinstance(value, dict):
            key, mode, digest = f"{name}/", "40000", _add_tree(objects, value)
        else:
            data, is_executable = value
            key, mode = name, "100755" if is_executable else "100644"
            digest = _add(objects, BLOB, data)
        entries.append((key.encode(), f"{mode} {name}".encode() + b"\0" + digest))
    return _add(objects, TREE, b"".join(entry for _, entry in sorted(entries)))


def _add(objects: dict[bytes, bytes], kind: int, data: bytes) -> bytes:
    """Add an object, packed, and return its ID."""
    digest = hashlib.sha1(
        f"{_NAMES[kind]} {len(data)}".encode() + b"\0" + data, usedforsecurity=False
    ).digest()
    if digest not in objects:
        objects[digest] = _head(kind, len(data)) + zlib.compress(data)
    return digest


def _head(kind: int, size: int) -> bytes:
    """Return the type and the size of an object, as a pack has them: 4 bits, and then 7 in each byte."""
    head, size = [kind << 4 | size & 15], size >> 4
    while size:
        head[-1] |= 128
        head.append(size & 127)
        size >>= 7
    return bytes(head)
