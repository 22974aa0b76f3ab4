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

import io
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from dulwich.errors import GitProtocolError
from dulwich.index import commit_tree
from dulwich.object_format import SHA1
from dulwich.object_store import MemoryObjectStore
from dulwich.objects import Blob, Commit
from dulwich.pack import write_pack_objects
from dulwich.protocol import PktLineParser, pkt_line, pkt_seq
from starlette.requests import Request
from starlette.responses import Response

from skillc import __version__
from skillc.server.requests import read_bytes
from skillc.server.responses import Refusal
from skillc.server.service import UPLOAD_TIME

SERVICE = "git-upload-pack"
BRANCH = "refs/heads/main"
MAX_REQUEST = 1 << 20  # bytes of what a client has and wants
MAX_BAND = 65520 - 5  # bytes of a pack in a line
CAPABILITIES = f"side-band-64k shallow ofs-delta no-progress symref=HEAD:{BRANCH} agent=skillc/{__version__}"
HEADERS = {"Cache-Control": "no-cache, private", "X-Content-Type-Options": "nosniff"}
AUTHOR = b"skillc <registry@skillc.invalid>"
Files = Mapping[str, tuple[bytes, bool]]  # by path: the bytes, and whether the file can be run


def advertise(request: Request, repository: Repository) -> Response:
    """Say which commit there is."""
    if request.query_params.get("service") != SERVICE:
        raise Refusal(403, "only git-upload-pack is served: clone and fetch")
    refs = f"{repository.commit} HEAD\0{CAPABILITIES}\n", f"{repository.commit} {BRANCH}\n"
    body = pkt_seq(f"# service={SERVICE}\n".encode()) + pkt_seq(*(ref.encode() for ref in refs))
    return Response(body, headers=HEADERS, media_type=f"application/x-{SERVICE}-advertisement")


async def read_wants(request: Request) -> list[str]:
    """Return the lines of a request for a pack; raises Refusal for one that is none."""
    data = await read_bytes(request, MAX_REQUEST, UPLOAD_TIME)
    if request.headers.get("Content-Encoding", "identity") in ("gzip", "x-gzip"):
        data = _unzip(data)
    lines: list[bytes] = []
    parser = PktLineParser(lambda line: lines.append(line or b""))
    try:
        parser.parse(data)
    except GitProtocolError:
        raise Refusal(400, "the request is not git's") from None
    if parser.get_tail():
        raise Refusal(400, "the request is not complete")
    return [line.decode("utf-8", "replace").rstrip("\n") for line in lines if line]


def upload_pack(lines: list[str], repository: Repository) -> Response:
    """Send the pack where the client has said all; before that, what it has in common with us."""
    wants = [line.split(" ") for line in lines if line.startswith("want ")]
    other = next((words[1] for words in wants if words[1] != repository.commit), "" if wants else "nothing")
    answer = []
    if other:
        answer.append(pkt_line(f"ERR upload-pack: not our ref {other[:40]}\n".encode()))
        lines = []
    if any(line.startswith("deepen") for line in lines):
        answer.append(pkt_line(None))  # no commit is cut off from others
    if "done" in lines or any(line.startswith("have ") for line in lines):
        has = f"have {repository.commit}" in lines
        answer.append(pkt_line(f"ACK {repository.commit}\n".encode() if has else b"NAK\n"))
    if "done" in lines:
        pack = repository.pack
        pieces = (pack[start : start + MAX_BAND] for start in range(0, len(pack), MAX_BAND))
        has_bands = "side-band-64k" in wants[0]
        answer.append(pkt_seq(*(b"\1" + piece for piece in pieces)) if has_bands else pack)
    return Response(b"".join(answer), headers=HEADERS, media_type=f"application/x-{SERVICE}-result")


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
    store, entries = MemoryObjectStore(), []
    for path, (data, is_executable) in files.items():
        blob = Blob.from_string(data)
        store.add_object(blob)
        entries.append((path.encode(), blob.id, 0o100755 if is_executable else 0o100644))
    commit = Commit()
    commit.tree = commit_tree(store, entries)
    commit.author = commit.committer = AUTHOR
    commit.author_time = commit.commit_time = time
    commit.author_timezone = commit.commit_timezone = 0
    commit.message = f"{message}\n".encode()
    store.add_object(commit)
    pack = io.BytesIO()
    write_pack_objects(pack, [store[each] for each in sorted(store)], SHA1, deltify=False)
    return Repository(commit.id.decode(), pack.getvalue())
