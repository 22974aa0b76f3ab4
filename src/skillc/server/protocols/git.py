"""Serve repositories to git over HTTP, for reading: the smart protocol, version 0, which all clients know.

    GET  <repository>/info/refs?service=git-upload-pack
    POST <repository>/git-upload-pack

A repository has one commit on `main`, without a history, so that a shallow clone is like any other.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response

from skillc import __version__
from skillc.server.protocols.pack import Repository
from skillc.server.protocols.request import read_body
from skillc.server.responses import Refusal

SERVICE = "git-upload-pack"
BRANCH = "refs/heads/main"
MAX_REQUEST = 1 << 20  # bytes of what a client has and wants
MAX_LINE = 65520
MAX_BAND = MAX_LINE - 5  # bytes of a pack in a line
CAPABILITIES = f"side-band-64k shallow ofs-delta no-progress symref=HEAD:{BRANCH} agent=skillc/{__version__}"
HEADERS = {"Cache-Control": "no-cache, private", "X-Content-Type-Options": "nosniff"}
FLUSH = b"0000"


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
