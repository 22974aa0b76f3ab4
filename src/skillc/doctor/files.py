"""Checks of files: permissions and owners, damage, leftovers, and the space that all takes."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from functools import partial
from typing import Any

from skillc import paths, records, trash
from skillc.doctor.check import OK, WARNING, Check, Place, change_mode, discard, fail, ok, warn
from skillc.errors import InvalidConfiguration, unexpected
from skillc.install import accepted_rules, find_waste
from skillc.library.records import read_switches
from skillc.library.repositories import allowed_variables
from skillc.paths import short_path as short
from skillc.quotes import shell_quote
from skillc.remotes.http import read_credentials
from skillc.text import count_of, first_of, size_of
from skillc.tools import TrustStore

PRIVATE = (
    "trust.json",
    "variables.json",
    "credentials.json",
    "accepted-blocks.json",
)  # others may not even read these
PARTS = ("skills", "runtime", "cache", "imports", "trash", "logs", "versions", "installed")
MAX_RECORD = 64 << 20  # bytes of deployments.json
MAX_NOTE = 1 << 16  # bytes of a note on an import
MIN_FREE = 100 << 20  # bytes; a build of a large skill takes about as much
MAX_TRASH = 1 << 30  # bytes from which the trash is worth a look
DEPTH = 2  # levels below ~/.skillc on which owners are looked at
MAX_OWNERS = 3  # files of others that are named


def check_home(place: Place) -> Iterator[Check]:
    """Check that the home's `.skillc` is a directory that only its user can write."""
    own = place.own
    if own is None:
        yield fail("there is no home directory", "export HOME=… (or SKILLC_HOME)")
        return
    if not os.path.lexists(own):
        parent = os.path.dirname(own)
        text = f"'{short(own)}' does not exist and can't be made"
        if not os.path.lexists(parent):
            yield fail(text, f"mkdir -p {shell_quote(parent)}")
        elif not os.path.isdir(parent):
            yield fail(text, "export HOME=… (or SKILLC_HOME)")
        elif not os.access(parent, os.W_OK | os.X_OK):
            yield fail(text, f"chmod u+rwx {shell_quote(parent)}")
        yield ok(f"'{short(own)}' does not exist yet; the first build makes it")
        return
    if not os.path.isdir(own):
        yield fail(f"'{short(own)}' is no directory", _move_away(own))
        return
    places = [own, *(os.path.join(own, name) for name in PARTS)]
    for folder in filter(os.path.lexists, places):
        if os.path.isdir(folder):
            yield from _check_folder(folder)
        else:
            yield fail(f"'{short(folder)}' is no directory", _move_away(folder))
    for name in PRIVATE:
        yield from _check_private(os.path.join(own, name))
    yield from _check_owners(own)
    yield ok(f"'{short(own)}' is yours alone to write")


def _move_away(path: str) -> str:
    return f"mv {shell_quote(path)} {shell_quote(f'{path}.old')}"


def _check_folder(path: str) -> Iterator[Check]:
    """Check that a directory can be written by its user and by no other."""
    mode = stat.S_IMODE(os.stat(path).st_mode)
    name = shell_quote(path)
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        repair = partial(change_mode, path, 0o700, 0)
        yield fail(f"'{short(path)}' can't be read and written", f"chmod u+rwx {name}", repair)
    if os.name == "posix" and mode & 0o022:
        repair = partial(change_mode, path, 0, 0o022)
        yield fail(f"other users can write '{short(path)}'", f"chmod go-w {name}", repair)


def _check_private(path: str) -> Iterator[Check]:
    """Check a file or directory that only its user may read."""
    if os.name != "posix" or not os.path.isfile(path):
        return
    mode = stat.S_IMODE(os.stat(path).st_mode)
    repair = partial(change_mode, path, 0, 0o077)
    fix = f"chmod go-rwx {shell_quote(path)}"
    if mode & 0o022:
        text = f"other users can write '{short(path)}', so it is not used; look at it first"
        yield fail(text, fix)
    elif mode & 0o077:
        yield warn(f"other users can read '{short(path)}'", fix, repair)


def _check_owners(own: str) -> Iterator[Check]:
    """Name files of other users: a command that was run with sudo leaves them."""
    if os.name != "posix":
        return
    foreign = [path for path in _walk(own, DEPTH) if os.lstat(path).st_uid != os.geteuid()]
    if foreign:
        listing = first_of([f"'{short(path)}'" for path in foreign], MAX_OWNERS)
        yield fail(f"another user owns {listing}", f'sudo chown -R "$(id -u)" {shell_quote(own)}')


def _walk(path: str, depth: int) -> Iterator[str]:
    if os.path.lexists(path):
        yield path
    if depth and os.path.isdir(path) and (not os.path.islink(path)):
        for name in paths.list_names(path):
            yield from _walk(os.path.join(path, name), depth - 1)


def check_owners(place: Place) -> Iterator[Check]:
    """Name the configurations here and above that belong to another user, and so are not obeyed."""
    for path in paths.foreign_directories(place.cwd):
        folder = os.path.dirname(path)
        text = f"'{short(path)}' belongs to another user and is not used; if you trust it, name its directory"
        yield warn(text, f"export SKILLC_SAFE_DIRECTORIES={shell_quote(folder)}")
    yield ok("no configuration of another user is here or above")


# What reads the records that are for their owner alone, each before its file in `.skillc`.
_PRIVATE = (
    (allowed_variables, "variables.json"),
    (read_credentials, "credentials.json"),
    (accepted_rules, "accepted-blocks.json"),
)


def check_records(place: Place) -> Iterator[Check]:
    """Check the files in which skc keeps what it knows: trust, variables, deployments, notes on imports."""
    if place.own is None or not os.path.isdir(place.own):
        return  # a check of its own
    yield from _check_trust()
    for read, file in _PRIVATE:
        try:
            read()
        except InvalidConfiguration as error:
            yield fail(error.message, _repair_by_hand(os.path.join(place.own, file)))
    try:
        read_switches()
    except (InvalidConfiguration, OSError) as error:
        yield fail(unexpected(error).message, _move_away(os.path.join(place.own, "disabled.json")))
    record = os.path.join(place.own, "deployments.json")
    reason = _find_damage(record)
    if reason:
        text = f"'{short(record)}' is damaged ({reason}), so no deployment is known; a build writes it anew"
        yield fail(text, f"{_move_away(record)} && skc build --all")
    notes = os.path.join(place.own, "imports")
    names = [name for name in paths.list_names(notes) if name.endswith(".json")]
    failures = [n for n in names if not isinstance(_read(os.path.join(notes, n), MAX_NOTE).get("copy"), str)]
    if failures:
        listing = ", ".join(short(name) for name in failures[:MAX_OWNERS])
        text = f"{count_of(len(failures), 'note')} on imports can't be read ({listing}): they are not trusted"
        yield warn(text, "skc trust list")
    yield from _check_installed(os.path.join(place.own, "installed"))
    yield from _check_trash()
    yield ok("trust, tokens, variables, switches, deployments, imports and the trash are as written")


def _check_installed(folder: str) -> Iterator[Check]:
    """Check the records of what was installed into each store."""
    for name in paths.list_names(folder):
        path = os.path.join(folder, name)
        if name.endswith(".json") and not _read(path):
            text = f"'{short(path)}' is damaged, so it is not known what was installed"
            yield warn(text, f"{_move_away(path)} && skc install")


def _check_trash() -> Iterator[Check]:
    """Check the notes that say where what is in the trash was."""
    try:
        lost = [item.id for item in trash.items() if not item.origin]
    except OSError:
        return  # a check of its own
    if lost:
        listing = ", ".join(short(name) for name in lost[:MAX_OWNERS])
        text = f"{count_of(len(lost), 'note')} in the trash can't be read ({listing}): copy what is in it"
        yield warn(text, "skc trash list")


def _read(path: str, limit: int = MAX_RECORD) -> dict[str, Any]:
    """Return what a record says; nothing for one that is damaged."""
    try:
        return records.read_record(path, limit, unsealed=0)
    except (OSError, ValueError):
        return {}


def _check_trust() -> Iterator[Check]:
    store = TrustStore()
    if os.path.exists(store.path) and not os.path.isfile(store.path):  # opening a pipe would block
        yield fail(f"'{short(store.path)}' is no file", _move_away(store.path))
        return
    try:
        damage = store.damage()
    except InvalidConfiguration as error:
        yield fail(error.message, _repair_by_hand(store.path))
        return
    if damage is not None:
        yield fail(damage.message, "skc trust prune")


def _repair_by_hand(path: str) -> str:
    """Return the command for a private file that is not used: others can write it, or it is damaged."""
    is_open = os.path.isfile(path) and os.stat(path).st_mode & 0o022
    return f"chmod 600 {shell_quote(path)}" if is_open else _move_away(path)


def _find_damage(path: str) -> str:
    """Return what is wrong with the record of deployments; empty if nothing is, or there is none."""
    try:
        entries = records.read_record(path, MAX_RECORD, unsealed=1)["deployments"]
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            return "its entries are no list"
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return type(error).__name__ if not str(error) else str(error)
    return ""


def check_leftovers(place: Place) -> Iterator[Check]:
    """Find what killed processes left behind, and what was made from skills that are gone."""
    for waste in find_waste(place.cwd, "leftover"):
        text = f"'{short(waste.path)}' was left behind by a process that was killed"
        yield warn(text, "skc clean", partial(discard, waste))
    orphans = list(find_waste(place.cwd, "orphan"))
    if orphans:
        size = sum(waste.size for waste in orphans)
        text = f"{count_of(len(orphans), 'orphan')}, made from skills that are gone, {size_of(size)}"
        yield warn(text, "skc clean")
    yield ok("nothing was left behind")


def check_space(place: Place) -> Iterator[Check]:
    """Say what the home's `.skillc` takes, and warn where the disk is nearly full or the trash is large."""
    own = place.own
    if own is None or not os.path.isdir(own):
        return
    sizes = {name: trash.measure_size(os.path.join(own, name)) for name in PARTS}
    parts = ", ".join(f"{name} {size_of(size)}" for name, size in sizes.items() if size)
    yield ok(f"{size_of(sum(sizes.values()))}{f' ({parts})' if parts else ''}")
    free = shutil.disk_usage(own).free
    if free < MIN_FREE:
        text = f"only {size_of(free)} are free on the disk of '{short(own)}'"
        yield warn(text, "skc clean")
    try:
        items = trash.items()
    except OSError:
        return  # a check of its own
    status = WARNING if sizes["trash"] > MAX_TRASH else OK
    text = f"{count_of(len(items), 'item')}, {size_of(sizes['trash'])}"
    yield Check("trash", status, text, "skc trash empty" if status == WARNING else None)
