"""A batch of skills on their way into the index: parsed on all cores, with posting lists by segment.

What is parsed from a SKILL.md are plain values, because they may come from a worker process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from time import time, time_ns

from skillc.errors import Diagnostic, MissingField, warning
from skillc.index import UNSETTLED, Stamp, stamp_of
from skillc.index.skills.invert import InvertedLists, Inverter, SegmentLists
from skillc.index.skills.postings import MAX_SLOTS
from skillc.index.skills.scan import UNREADABLE, DiagnosticRow, SkillFile
from skillc.index.skills.snapshot import Entry, Values
from skillc.index.skills.tokens import Stemmer
from skillc.index.skills.weights import SkillText, weigh_terms
from skillc.index.workers import Pool, can_spawn, count_cores
from skillc.paths import MAX_SKILL_FILE
from skillc.skills.document import find_violations, parse, read_metadata, read_tags, read_texts, read_words

# ID, name, description, needs, tags, body
MemorySkill = tuple[str, str, str, tuple[str, ...], tuple[str, ...], str | None]
Contents = tuple[Values, SkillText | None]  # of a SKILL.md: what it says, and its text for searching
Job = tuple[int, str, str, bytes | None]  # a slot, the path of a SKILL.md, the ID, the file if at hand
SkillRow = tuple[int, Values, bytes | None]  # a slot, what a SKILL.md says, the sketch of its text
Chunk = tuple[list[SkillRow], InvertedLists]

PARALLEL_FROM = 400  # files that are worth starting other processes
CHUNK = 2000  # files that are inverted together
MIN_BODY = 500  # bytes of a body that says by itself what a skill is; shorter ones may be alike by chance
GROUP = 50  # files whose words are stemmed together
WORKERS_START = 3.0  # seconds; with less time left, other processes would start too late


class Batch:
    """Skills that were read, in the order of their IDs, with their sketches and the lists of each segment."""

    def __init__(self) -> None:
        self.start = time_ns()  # a file that changed since then may have changed after it was read
        self.entries: list[Entry] = []
        self.sketches: list[bytes | None] = []  # None without a text
        self.lists: list[SegmentLists] = []


def read_batch(
    root: str,
    strict: bool,
    files: Sequence[SkillFile],
    with_text: bool,
    on_progress: Callable[[int], None] = lambda count: None,
    until: float | None = None,
    contents: Mapping[str, bytes] | None = None,
) -> Batch:
    """Read files in their order; `with_text` also their texts, as posting lists.

    `on_progress` is called with how many are read. At the time `until` the rest is left out. `contents` has
    files that are at hand, by path.
    """
    batch = Batch()
    data = contents or {}
    for start in range(0, len(files), MAX_SLOTS):
        group = files[start : start + MAX_SLOTS]
        in_order = sorted(group, key=lambda file: (file.skill_id, file.path))
        slots = {file.path: slot for slot, file in enumerate(in_order)}
        jobs = [
            (slots[file.path], os.path.join(root, file.path), file.skill_id, data.get(file.path))
            for file in group
        ]
        rows: list[SkillRow] = []
        lists = SegmentLists()
        for chunk_rows, chunk_lists in read_chunks(jobs, strict, with_text, until):
            rows += chunk_rows
            lists.add(chunk_lists)
            on_progress(start + len(rows))
        rows.sort(key=itemgetter(0))
        if len(rows) < len(group):  # the last group, as time is up
            lists.renumber([slot for slot, _, _ in rows])
        for slot, values, sketch in rows:
            batch.entries.append(Entry(in_order[slot].path, in_order[slot].skill_id, values))
            batch.sketches.append(sketch)
        batch.lists.append(lists)
        if until is not None and time() > until:
            break
    return batch


def invert_texts(skills: Sequence[MemorySkill], stemmer: Stemmer) -> Batch:
    """Return a batch of skills that have no files."""
    batch = Batch()
    for start in range(0, len(skills), MAX_SLOTS):
        group = skills[start : start + MAX_SLOTS]
        texts = [
            SkillText(name, text, (body or "").encode("utf-8", "replace"), tags)
            for _, name, text, _, tags, body in group
        ]
        stemmer.forget()
        inverter, lists = Inverter(), SegmentLists()
        for slot, skill in enumerate(weigh_terms(stemmer, texts)):
            inverter.add(slot, skill)
            batch.sketches.append(skill.sketch)
        lists.add(inverter.invert(stemmer.vocabulary))
        batch.lists.append(lists)
        batch.entries += [
            Entry(i, i, ((0, 0, 0), text, needs, None, None, 0, tags)) for i, _, text, needs, tags, _ in group
        ]
    return batch


def read_chunks(
    jobs: Sequence[Job], strict: bool, with_text: bool, until: float | None = None
) -> Iterator[Chunk]:
    """Yield what the files say, chunk by chunk; see `read_batch`.

    Each chunk takes every n-th file, so that all take about the same time.
    """
    count = max(-(-len(jobs) // CHUNK), 2 if len(jobs) >= PARALLEL_FROM else 1)
    chunks = [list(jobs[number::count]) for number in range(count)]
    workers = min(count_cores(), count) if can_spawn() else 0
    if workers > 1 and (until is None or until - time() > WORKERS_START):
        return Pool(SkillReader, strict, with_text, until).run(chunks, workers, fork=False)
    return map(SkillReader(strict, with_text, until), chunks)


class SkillReader:
    """Reads SKILL.md files; called with the jobs of a chunk."""

    def __init__(self, strict: bool, with_text: bool, until: float | None) -> None:
        self._until = until
        self._has_started = False
        self._strict = strict
        self._with_text = with_text
        self._stemmer = Stemmer()

    def __call__(self, jobs: Sequence[Job]) -> Chunk:
        self._stemmer.forget()
        rows: list[SkillRow] = []
        inverter = Inverter()
        for start in range(0, len(jobs), GROUP):
            skills = list(self._read(jobs[start : start + GROUP]))
            texts = {slot: text for slot, _, text in skills if text is not None}
            sketches: dict[int, bytes] = {}
            for slot, skill in zip(texts, weigh_terms(self._stemmer, [*texts.values()]), strict=True):
                inverter.add(slot, skill)
                sketches[slot] = skill.sketch
            rows += [(slot, values, sketches.get(slot)) for slot, values, _ in skills]
        return rows, inverter.invert(self._stemmer.vocabulary)

    def _read(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Values, SkillText | None]]:
        """Yield the slots of files and what they say, until it is late; one file is always read."""
        for slot, path, skill_id, data in jobs:
            if self._until is not None and self._has_started and time() > self._until:
                return
            self._has_started = True
            yield slot, *parse_skill_file(path, skill_id, self._strict, self._with_text, data)


def parse_skill_file(
    path: str, skill_id: str, strict: bool, with_text: bool, data: bytes | None = None
) -> Contents:
    """Return what a SKILL.md, which may be at hand, says and, `with_text`, its text for searching.

    A file that can't be used has no description, and its diagnostics say why.
    """
    if data is not None:
        return _parse(path, skill_id, (len(data), 0, 0), data, strict, with_text)
    try:
        with open(path, "rb", buffering=0) as file:
            stamp = stamp_of(os.fstat(file.fileno()))
            raw = file.read(MAX_SKILL_FILE + 1)
    except OSError as error:
        return _quarantine((0, UNSETTLED, 0), f"SKILL.md {UNREADABLE}{error.strerror}")
    if len(raw) > MAX_SKILL_FILE:
        return _quarantine(stamp, f"SKILL.md is over {MAX_SKILL_FILE >> 20} MiB")
    return _parse(path, skill_id, stamp, raw, strict, with_text)


def _quarantine(
    stamp: Stamp, problem: str, code: str = "E010", warnings: Iterable[DiagnosticRow] = ()
) -> tuple[Values, None]:
    return (stamp, None, (), None, (*warnings, (code, "error", problem)), None, ()), None


def _parse(path: str, skill_id: str, stamp: Stamp, raw: bytes, strict: bool, with_text: bool) -> Contents:
    document = parse(raw)
    directory = os.path.basename(os.path.dirname(path))
    try:
        fields = read_metadata(document, directory)
    except MissingField as error:
        return _quarantine(stamp, error.message, error.code, _rows(error.diagnostics))
    name = skill_id.rpartition("/")[2]
    mismatch = [warning("W021", fields.name, directory)] if fields.name != name else []
    diagnostics = _rows([*fields.diagnostics, *mismatch])
    problems = find_violations(fields, directory) if strict else []
    if problems:
        message = f"breaks the Agent Skills format: {'; '.join(problems)}"
        return _quarantine(stamp, message, warnings=diagnostics)
    text = digest = None
    tags = read_tags(fields.fields)
    if with_text:
        from hashlib import blake2b

        names = name if fields.name == name else f"{name} {fields.name}"
        body = document.data[document.body :]
        identity = body.strip() if len(body) >= MIN_BODY else raw
        digest = int.from_bytes(blake2b(identity, digest_size=7).digest(), "big")
        text = SkillText(names, fields.description, body, tags)
    values = (
        stamp,
        fields.description.strip(),
        read_words(fields.fields.get("requires_capabilities")),
        read_texts(fields.fields.get("metadata")),
        diagnostics,
        digest,
        tags,
    )
    return values, text


def _rows(diagnostics: Iterable[Diagnostic]) -> tuple[DiagnosticRow, ...]:
    return tuple([(each.code, "warning", each.message) for each in diagnostics])
