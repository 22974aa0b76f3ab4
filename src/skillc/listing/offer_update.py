"""Renew in the background what a prompt hook may offer: the index, the folders, and what the audit says.

Started by the hook (`start_update`), one at a time. It asks no remote: a git repository is read as it was
fetched last, and other remotes are left out. The index and the skills that were asked about come first. All
other skills are audited after that, with low priority, so that the first prompt they fit need not wait.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence

from skillc import atomic, paths
from skillc.audit import NOTE, Policy, audit_folder, read_policy
from skillc.errors import SkillcError
from skillc.index.skills import Folder, skill_index
from skillc.library.records import read_switches
from skillc.library.repositories import (
    SkillRepositoryConfig,
    SkillsConfig,
    find_skills_file,
    repositories_in_force,
    source_of,
)
from skillc.library.sources import GitSkillSource
from skillc.listing.hook import log_fault, update_lock
from skillc.listing.offer_record import (
    BLOCKED,
    HIDDEN,
    OK,
    OfferRecord,
    Place,
    basis,
    encode,
    mark_files,
    place_key,
)
from skillc.listing.rules import read_rules
from skillc.settings import load_settings
from skillc.skills import digest_skill
from skillc.skills.document import main_file, parse, read_main_file
from skillc.tools import TrustStore

LOCK_SECONDS = 1.0  # hooks hold the lock for a moment, to see whether an update runs
MAX_AUDIT_SECONDS = 900.0  # of one run; the next one goes on
AUDIT_PAUSE = 3600.0  # seconds between two looks at all skills
SETTLED = 0.1  # seconds after which a change of a file is sure to have another time
MAX_WAIT = 3.0
SPEAKS, SPEAKS_NOT = "A30", "A43"  # rules from the first to the second are about text for the agent
BATCH_SECONDS = 1.0  # after which verdicts are stored

Row = tuple[str, str, bool]


def update_offers(cwd: str, agent: str, first: Sequence[str] = ()) -> bool:
    """Renew what may be offered in a directory; `first` are skills to audit before all others.

    Return whether this was done: not while another process is at it. Faults are logged.
    """
    _lower_priority()
    os.makedirs(paths.cache_directory(), exist_ok=True)
    lock = atomic.Lock(update_lock(), time.time() + LOCK_SECONDS)
    try:
        with lock:
            if lock.is_late:
                return False
            folders = _renew(cwd, agent, first)
    except Exception as error:
        log_fault(agent, error)
        return False
    try:
        with atomic.Lock(f"{update_lock()}-audit", wait=False):
            _audit_all(folders, agent)
    except BlockingIOError:
        pass
    except Exception as error:
        log_fault(agent, error)
    return True


def _lower_priority() -> None:
    try:
        os.nice(10)
    except (OSError, AttributeError):
        pass


def _renew(cwd: str, agent: str, first: Sequence[str]) -> list[Folder]:
    """Store the place, and bring the index up to date; return the folders."""
    key = place_key(cwd, agent)  # before anything is read: a change meanwhile makes another key
    place = find_place(cwd, agent)
    folders = [skill_index().folder(root, strict) for _, root, strict in place.folders]
    for folder in folders:
        folder.refresh(force=True)
    record = OfferRecord.create()
    try:
        record.write_place(key, place)
        _audit(record, filter(os.path.isdir, first), agent)
    finally:
        record.close()
    return folders


def find_place(cwd: str, agent: str) -> Place:
    """Return what may be offered to an agent in a directory, from the files that say so."""
    home = paths.require_home()
    user, config = _load(home, cwd)
    if not (user.enabled and config.enabled):
        return Place([], [], {}, [], [], False, time.time())
    own = dict.fromkeys((*_folders(user.repositories), *_folders(repositories_in_force(SkillsConfig()))))
    projects = list(_find_projects(config, cwd, {root for _, root, _ in own}))
    trusted = _find_trusted([root for _, root, _ in projects])
    projects = [row for row in projects if any(paths.is_inside(path, row[1]) for path in trusted)]
    return Place(
        [*projects, *own],
        [root for _, root, _ in projects],
        trusted,
        list(_find_disabled(agent)),
        list(user.capabilities),
        load_settings(cwd).log_missed,
        time.time(),
    )


def _load(home: str, cwd: str) -> tuple[SkillsConfig, SkillsConfig]:
    """Return the user's configuration, and that of the directory; a project's that is wrong says nothing."""
    user = SkillsConfig.load_from_paths(find_skills_file(home), None)
    try:
        return user, SkillsConfig.load(cwd)
    except SkillcError:
        return user, user


def _folders(repositories: Iterable[SkillRepositoryConfig]) -> Iterator[Row]:
    """Yield the folders of repositories that are on this machine; no remote is asked."""
    for repository in repositories:
        if repository.type not in ("filesystem", "git"):
            continue
        try:
            source = source_of(repository)
            folder = source.folder if isinstance(source, GitSkillSource) else getattr(source, "root", None)
        except (SkillcError, OSError, ValueError):
            continue
        if folder:
            yield repository.name, folder, repository.strict


def _find_projects(config: SkillsConfig, cwd: str, own: set[str]) -> Iterator[Row]:
    """Yield the folders that the project here names, or has by default, besides the user's own."""
    root = next(paths.library_roots(cwd), None)
    if root is None:
        return
    named = [each for each in config.repositories if each.of_project and each.type == "filesystem"]
    default = [each for each in repositories_in_force(SkillsConfig(), root) if each.base == root]
    for row in dict.fromkeys(_folders([*named, *default])):
        if row[1] not in own and os.path.isdir(row[1]):
            yield row


def _find_trusted(roots: Sequence[str]) -> dict[str, str]:
    """Return the skills below some folders that the user allowed as they are, with marks of their files."""
    trusted: dict[str, str] = {}
    if not roots:
        return trusted
    store = TrustStore()
    for decision in store.decisions():
        path = decision.path
        if any(paths.is_inside(path, root) for root in roots) and os.path.isdir(path):
            mark, _ = mark_files(path, basis())
            verdict = store.verdict(path, digest_skill(path))
            if mark and verdict not in (None, "deny") and mark == mark_files(path, basis())[0]:
                trusted[path] = mark
    return trusted


def _find_disabled(agent: str) -> Iterator[str]:
    """Yield the skills that the user disabled for an agent."""
    rule = next((rule for name, rule in read_rules().items() if agent in name), None)
    folders = list(rule.user_folders()) if rule else []
    for switch in read_switches().values():
        places = [os.path.join(folder, os.path.basename(switch.source)) for folder in folders]
        if switch.covers_all(places or None):
            yield switch.source


def _audit_all(folders: Sequence[Folder], agent: str) -> None:
    """Audit what is new or has changed in folders, if they were not looked through just now."""
    stamp = f"{update_lock()}-audit"
    record = OfferRecord.create()
    try:
        directories = {
            encode(directory): directory
            for folder in folders
            for entry in folder.snapshot().skills.values()
            if (directory := folder.skill_directory(entry.path))
        }
        marks = record.read_marks()
        is_recent = 0 <= time.time() - _modified(stamp) < AUDIT_PAUSE
        new = [path for name, path in directories.items() if not (is_recent and name in marks)]
        if _audit(record, new, agent, time.monotonic() + MAX_AUDIT_SECONDS) and not is_recent:
            with open(stamp, "w", encoding="utf-8") as file:
                file.write("all were looked at\n")
    finally:
        record.close()


def _modified(path: str) -> float:
    status = os.stat(path)
    return status.st_mtime if status.st_size else 0.0


def _audit(record: OfferRecord, directories: Iterable[str], agent: str, until: float = 0.0) -> bool:
    """Store the verdicts that are missing or out of date; return whether there was time for all."""
    policy, now = read_policy(), basis()
    verdicts: list[tuple[str, str, str]] = []
    stored = time.monotonic()
    is_done = True
    for directory in directories:
        if until and time.monotonic() > until:
            is_done = False
            break
        try:
            mark, newest = mark_files(directory, now)
            known = record.find_verdict(directory)
            if not mark or (known is not None and known[0] == mark):
                continue
            _settle(newest)
            verdict = _judge(directory, policy)
            if mark_files(directory, now)[0] == mark:
                verdicts.append((directory, mark, verdict))
        except (SkillcError, OSError) as error:
            if os.path.isdir(directory):
                log_fault(agent, error)
        if time.monotonic() - stored > BATCH_SECONDS:
            record.write_verdicts(verdicts)
            verdicts, stored = [], time.monotonic()
    record.write_verdicts(verdicts)
    return is_done


def _settle(newest: int) -> None:
    """Wait until a change of a file that was changed just now would be seen by its time."""
    wait = newest / 1e9 + SETTLED - time.time()
    if wait > 0:
        time.sleep(min(wait, MAX_WAIT))


def _judge(directory: str, policy: Policy) -> str:
    """Return whether the audit blocks a skill, or its author keeps it from models."""
    audit = audit_folder(directory, os.path.basename(directory), policy=policy)
    document, name = parse(read_main_file(directory)), main_file(directory)
    end = document.data.count(b"\n", 0, document.body)  # the frontmatter's last line
    # What is hidden in a description, or speaks to the agent against its user, would be in prompts.
    is_hostile = any(
        each.file == name and each.line <= end and each.level != NOTE and SPEAKS <= each.rule.id < SPEAKS_NOT
        for each in audit.findings
    )
    if audit.blocks or is_hostile:
        return BLOCKED
    front = document.frontmatter
    is_hidden = front is not None and front.fields.get("disable-model-invocation") is True
    return HIDDEN if is_hidden else OK
