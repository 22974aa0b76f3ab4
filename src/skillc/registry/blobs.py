"""Keep bytes by their digest: in a folder, or in a bucket of S3, Google Cloud or Azure. Needs `registry`.

A blob never changes. It is written before a version that has it, and removed after the last one.

An upload is a file that is sent ahead of a publication, until it names it: a blob with a line in front that
says which caller sent it. So a publication can name what its own caller sent, and nothing else: the digest of
a file that another one published does not lead to its bytes. `collect` removes uploads after a day; the blobs
of a version are written anew.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from html import unescape
from typing import Any

from skillc import atomic
from skillc.errors import InvalidOption, InvalidParameter, RegistryUnavailable, require_extra
from skillc.paths import is_inside, make_private
from skillc.registry.model.access import Caller
from skillc.registry.model.model import Role, digest_of
from skillc.registry.package import MAX_BYTES

_BUCKETS = {"s3": "S3Store", "gs": "GCSStore", "az": "AzureStore"}
_ALGORITHM = "sha256:"
_FOLDER = "sha256"
_HEX = frozenset("0123456789abcdef")
AT_ONCE = 8  # blobs that are written: disks and buckets answer slowly, but many requests at once
MAX_AGE = timedelta(hours=1)  # of an upload that can be named
_EMPTY = digest_of(b"")
_MARK = b"skillc upload 1 "
_S3_ERROR = re.compile(r"<Code>(\w+)</Code>\s*<Message>([^<]{1,300})")
_NO_CONNECTION = re.compile(
    r"Error performing \w+ (\w+://[^/\s]+)\S* in [^\n]*HTTP error: error sending request"
)
_SERVER = re.compile(r"https?://[^\s/@?#]+/?[^\s@?#]*")
_CHUNK = 200  # entries of a list at once; so many are removed in one transaction


class Blobs:
    """Blobs in a store of obstore: a folder, which is its `root`, or a bucket."""

    def __init__(self, store: Any, name: str, root: str = "") -> None:
        self._store = store
        self._name = name
        self._root = root
        self.error = ""  # why a bucket was out of reach when it was last probed

    def probe(self) -> None:
        """Raise RegistryUnavailable for a bucket that can't be read or, where it is empty, written."""
        if self._root:
            return
        try:
            if self.find(_EMPTY) is None:
                self.write(_EMPTY, b"")
        except RegistryUnavailable as error:
            self.error = error.line()
            raise
        self.error = ""

    def try_out(self) -> None:
        """Write a blob and read it; raises RegistryUnavailable.

        It is empty, as a file of a skill may be, so it is not removed here.
        """
        self.write(_EMPTY, b"")
        if self.find(_EMPTY) is None:
            raise RegistryUnavailable(self._name, "a blob that was written is not there")

    def write(self, digest: str, data: bytes) -> None:
        """Write a blob, complete or not at all; one that is there is written again."""
        self.write_all({digest: data})

    def write_all(self, blobs: Mapping[str, bytes]) -> None:
        """Write blobs, some at once, each complete or not at all; all of them are on the disk at the end."""
        with self._translate_errors("there is no such bucket"), ThreadPoolExecutor(AT_ONCE) as pool:
            paths = list(pool.map(self._put, blobs, blobs.values()))
            if self._root and os.name == "posix":  # elsewhere directories can't be opened
                folders = {folder for path in paths for folder in _folders_above(path, self._root)}
                list(pool.map(_flush, sorted(folders)))

    def _put(self, digest: str, data: bytes) -> str:
        """Write a blob and wait until its bytes are on the disk; return its file."""
        self._store.put(_path(digest), data)
        path = os.path.join(self._root, _path(digest)) if self._root else ""
        if path and os.name == "posix":
            _flush(path)
        return path

    def read(self, digest: str) -> bytes:
        """Return a blob; raises RegistryUnavailable where it is missing or damaged."""
        with self._translate_errors():
            data: bytes = self._store.get(_path(digest)).bytes().to_bytes()
        if digest_of(data) != digest:
            raise RegistryUnavailable(self._name, f"the blob {digest} is damaged")
        return data

    def find(self, digest: str) -> bytes | None:
        """Return a blob; None where it is missing or damaged. Raises RegistryUnavailable in an outage."""
        with self._translate_errors():
            try:
                data = self._store.get(_path(digest)).bytes().to_bytes()
            except FileNotFoundError:
                return None
        return data if digest_of(data) == digest else None

    def find_older(self, than: datetime) -> Iterator[list[str]]:
        """Yield the digests of the blobs that were written before a time, in batches."""
        with self._translate_errors():
            for entries in self._store.list(f"{_FOLDER}/", chunk_size=_CHUNK):
                names = [
                    entry["path"].rpartition("/")[2] for entry in entries if entry["last_modified"] < than
                ]
                yield [_ALGORITHM + name for name in names if _is_name(name)]

    def remove(self, digests: Collection[str]) -> None:
        with self._translate_errors():
            self._store.delete([_path(digest) for digest in digests])

    def sweep(self, before: datetime) -> None:
        """Remove what killed processes left half-written in a folder; buckets do not show such files."""
        for directory, _, names in os.walk(os.path.join(self._root, _FOLDER)) if self._root else ():
            for name in names:
                path = os.path.join(directory, name)
                # obstore writes to the name of the blob with "#" and a number, and then renames it.
                with suppress(FileNotFoundError):
                    if "#" in name and os.stat(path).st_mtime < before.timestamp():
                        atomic.discard(path)

    @contextmanager
    def _translate_errors(self, absence: str = "a blob is missing") -> Iterator[None]:
        from obstore.exceptions import BaseError  # here, because it needs the extra

        try:
            yield
        except (BaseError, OSError) as error:
            reason = absence if isinstance(error, FileNotFoundError) else ""
            raise RegistryUnavailable(self._name, _explain(str(error), reason)) from None


class Uploads:
    """The uploads of a registry."""

    def __init__(self, blobs: Blobs, clock: Callable[[], datetime]) -> None:
        self._blobs = blobs
        self._clock = clock

    def check(self, caller: Caller, size: object = 0) -> None:
        """Raise RegistryRefused where a caller may publish nothing, InvalidParameter for a wrong size."""
        caller.require_anywhere(Role.PUBLISHER)
        if not isinstance(size, int) or not 0 <= size <= MAX_BYTES:
            raise InvalidParameter("size", f"it is a number of bytes up to {MAX_BYTES >> 20} MiB")

    def add(self, caller: Caller, data: bytes) -> str:
        """Keep a file, and return the name of the upload."""
        self.check(caller, len(data))
        header = {"subject": caller.subject, "time": self._clock().isoformat()}
        blob = _MARK + json.dumps(header).encode() + b"\n" + data
        digest = digest_of(blob)
        self._blobs.write(digest, blob)
        return digest.removeprefix(_ALGORITHM)

    def read(self, caller: Caller, name: str) -> bytes:
        """Return what this caller sent during the last hour; raises InvalidParameter for anything else."""
        blob = self._blobs.find(f"{_ALGORITHM}{name}") if _is_name(name) else None
        if blob is None or not blob.startswith(_MARK):
            raise InvalidParameter("upload", f"there is no upload '{name[:64]}'")
        line, _, data = blob[len(_MARK) :].partition(b"\n")
        header = json.loads(line)
        is_old = self._clock() - datetime.fromisoformat(header["time"]) > MAX_AGE
        if header["subject"] != caller.subject or is_old:
            raise InvalidParameter("upload", f"there is no upload '{name[:64]}'")
        return data


def _explain(error: str, reason: str) -> str:
    """Return what is wrong in a line; obstore tells all that it was asked to do. Else, return `reason`."""
    answer = _S3_ERROR.search(error)
    if answer and answer[1] != "NoSuchKey":
        return (
            "there is no such bucket"
            if answer[1] == "NoSuchBucket"
            else f"{unescape(answer[2])} ({answer[1]})"
        )
    if "BadScheme" in error:
        return "its address starts with http://; AWS_ALLOW_HTTP=true allows that"
    if "169.254.169.254" in error:  # where machines of a cloud find theirs
        return "there are no credentials for it, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    server = _NO_CONNECTION.search(error)
    return f"{server[1]} can't be reached" if server else reason or error.strip().partition("\n")[0][:300]


def _check_endpoint() -> None:
    """Raise InvalidOption for an endpoint that is no address: obstore panics."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"):
        address = os.environ.get(name, "")
        if address and not _SERVER.fullmatch(address):
            raise InvalidOption(f"{name} is not the address of a server, such as https://s3.example.com")


def open_blobs(url: str) -> Blobs:
    """Open `s3://bucket/prefix`, `gs://…`, `az://…`, or a folder by path or `file://`, which is made.

    Credentials, region and endpoint come from the variables of each provider, such as AWS_ENDPOINT_URL;
    AWS_ALLOW_HTTP=true is for an endpoint without TLS.
    """
    with require_extra("registry"):  # here, so that programs without it can use the rest of the room
        from obstore import store as stores
        from obstore.exceptions import BaseError

    scheme, path = url.split("://", 1) if "://" in url else ("file", os.path.abspath(url))
    if scheme == "file":
        try:
            os.makedirs(path, mode=0o700, exist_ok=True)
            make_private(os.path.join(path, _FOLDER))  # the folder that was named may have other things in it
        except OSError as error:
            raise RegistryUnavailable(path, error.strerror or str(error)) from None
        return Blobs(stores.LocalStore(path), path, path)
    if scheme not in _BUCKETS:
        raise InvalidOption(f"--blobs {scheme}://…: it is a folder, s3://, gs:// or az://")
    _check_endpoint()
    # Given options take the place of those in variables, so that this one is read here.
    allow_http = os.environ.get("AWS_ALLOW_HTTP", "").lower() == "true"
    try:
        store = getattr(stores, _BUCKETS[scheme]).from_url(
            url,
            client_options={"timeout": "60s", "connect_timeout": "5s", "allow_http": allow_http},
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=10)},
        )
    except (BaseError, ValueError) as error:
        raise InvalidOption(f"--blobs {scheme}://…: {str(error).partition(chr(10))[0][:300]}") from None
    return Blobs(store, url)


def _path(digest: str) -> str:
    name = digest.removeprefix(_ALGORITHM)
    assert _is_name(name), digest
    return f"{_FOLDER}/{name[:2]}/{name}"


def _is_name(text: str) -> bool:
    return len(text) == 64 and _HEX.issuperset(text)


def _folders_above(path: str, root: str) -> Iterator[str]:
    """Yield the folders that a file is in, up to the root."""
    path = os.path.dirname(path)
    while is_inside(path, root):
        yield path
        path = os.path.dirname(path)


def _flush(path: str) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
