"""Build a skill: compile a folder with SKILL.md into stub, manifest and index in the runtime directory.

Readers never see half a build [D11]. The index holds the manifest and the stub of its build, and the
build takes effect when the index is renamed; the two other files follow. A reader that comes in between
believes the index (`is_of_build`), and the next build writes the missing files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from time import gmtime, sleep, strftime, time_ns

from skillc import atomic, paths
from skillc.compiler.assets import attach_assets, find_assets
from skillc.errors import Diagnostic, IndexCollision, InvalidSkill, PlaceTaken, SkillcError, warning
from skillc.index import EXACT, SETTLED_NS, UNSETTLED, sections, settle, stamp_of
from skillc.index.sections import FileState, SectionWriter
from skillc.library import PROJECT, Skill, is_compiled
from skillc.settings import load_settings
from skillc.skills import SourceFile, list_tree
from skillc.skills.document import Metadata, main_file, read_main_file
from skillc.startup import sha256_hex
from skillc.text import utf8_text

Stamp = tuple[int, int, int]
Formats = frozenset[str]
Progress = Callable[[int, int], None] | None

NO_ROOM = "W008"  # the warning for a field that the stub has no room for
ATTEMPTS = 5  # builds of a folder that changes meanwhile
MAX_COPY = 0.5  # share of changed bytes up to which a build starts from a copy of the last index


class BuildResult:
    """The outcome of a build: `status` is `built`, `updated` or `unchanged`; files are counted."""

    __slots__ = ("changes", "diagnostics", "files", "runtime", "skill", "source_hash", "status")

    def __init__(self, build: _Build, status: str, changes: int, source_hash: str) -> None:
        self.skill = build.skill
        self.runtime = build.runtime
        self.status = status
        self.files = len(build.files)
        self.changes = changes
        self.source_hash = source_hash
        self.diagnostics = build.diagnostics


def build_skill(
    skill: Skill,
    *,
    tokenizer: str = "ascii",
    formats: Formats = frozenset(),
    to_global: bool = False,
    force: bool = False,
    progress: Progress = None,
) -> BuildResult:
    """Compile a skill; without `force`, reuse what has not changed since the last build.

    `formats` are those of `compiler.formats` that are indexed besides Markdown and plain text.
    `progress` gets the number of files done and of all; an exception that it raises ends the build, and
    the last one stays in use.
    """
    main = main_file(skill.source)
    if is_compiled(skill.source):
        raise InvalidSkill(skill.source, "a compiled skill; build its source")
    runtime = skill.global_runtime() if to_global else skill.runtime()
    for directory in _runtime_directories(runtime):
        if os.path.islink(directory):  # a project that was cloned may bring it; a build would write elsewhere
            raise PlaceTaken(directory, "hint: it is a link, and a build writes there; remove it")
    if skill.scope == PROJECT and not to_global:
        paths.require_inside(os.path.dirname(runtime), skill.root)
    try:
        for directory in _runtime_directories(runtime):
            os.makedirs(directory, exist_ok=True)
        with lock_build(runtime):
            for _ in range(ATTEMPTS):
                try:
                    return _Build(skill, runtime, main, tokenizer, formats, progress).run(force)
                except (_SourceChange, FileNotFoundError):
                    continue
    except sections.DatabaseError as error:
        raise SkillcError(f"'{runtime}': {error}; the last build still serves") from error
    raise SkillcError(f"'{skill.source}' changes while it is built; the last build still serves, try again")


def keep_index_current(skill: Skill, cwd: str) -> None:
    """Build a repository's skill if it changed; a command that needs the index reports a failure."""
    config = load_settings(cwd)
    try:
        build_skill(skill, tokenizer=config.tokenizer, formats=config.formats)
    except (SkillcError, OSError):
        pass


def lock_build(runtime: str) -> atomic.Lock:
    """Return the lock of a runtime directory; raises PlaceTaken where something else is in its place."""
    path = os.path.join(paths.meta_directory(runtime), "build.lock")
    if os.path.islink(path) or (os.path.exists(path) and not os.path.isfile(path)):
        raise PlaceTaken(path, "hint: a build keeps a file of its own there; remove what is there")
    return atomic.Lock(path)


def _runtime_directories(runtime: str) -> tuple[str, ...]:
    manifests = os.path.dirname(paths.manifest_file(runtime))
    return os.path.dirname(runtime), runtime, manifests, paths.meta_directory(runtime)


class _SourceChange(Exception):
    """A file changed during the build, which starts over."""


class _Build:
    """One build, step by step, under the lock of its runtime directory."""

    def __init__(
        self, skill: Skill, runtime: str, main: str, tokenizer: str, formats: Formats, progress: Progress
    ) -> None:
        self.skill = skill
        self.runtime = runtime
        self.progress = progress
        self.main = main
        self.time = time_ns()
        self.files, self.directories = list_tree(skill.source)
        self.tokenizer = tokenizer
        self.formats = formats
        self.index_path = paths.index_file(runtime, skill.source)
        self.last_manifest = sections.read_manifest(runtime)
        # The last index; empty if there is none to start from.
        self.meta: dict[str, str] = {}
        self.records: dict[str, FileState] = {}
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.fields: dict[str, str] = {}  # the YAML of the frontmatter besides name and description
        self.main_digest = ""  # of the SKILL.md that name and description were read from

    def run(self, force: bool) -> BuildResult:
        for directory in _runtime_directories(self.runtime)[1:]:
            atomic.sweep(directory, older_than=0)  # leftovers of a killed build: the lock excludes others
        if not force:
            self._read_last_index()
        if not self.meta:
            return self._write(self.files, {}, set(), copy=False)
        last_stamps = {name: stamp for name, (_, stamp) in self.records.items()}
        suspects = [file for file in self.files if last_stamps.get(utf8_text(file.name)) != file.stamp]
        removals = self.records.keys() - {utf8_text(file.name) for file in self.files}
        if not suspects and not removals:
            stub = self.meta["stub"].encode()
            self.diagnostics += self._keep_edited_stub(self._read_stub(), stub)
            self._write_beside_index(stub, self.meta["manifest"].encode())
            return BuildResult(self, "unchanged", 0, self.meta["source_hash"])
        changes, stamps = self._compare(suspects)
        copy = sum(file.size for file in changes) <= sum(file.size for file in self.files) * MAX_COPY
        return self._write(changes if copy else self.files, stamps, removals, copy=copy)

    def _read_last_index(self) -> None:
        """Read the last index, unless it is unreadable or would be written differently now."""
        try:
            connection = sections.connect(self.index_path)
        except sections.UnreadableIndex:
            return
        try:
            meta = sections.read_meta(connection)
            if meta["skill_path"] != utf8_text(self.skill.source):
                raise IndexCollision(paths.path_hash(self.skill.source))
            if sections.is_reusable(meta, self.tokenizer, self.formats, self.last_manifest):
                sections.probe_index(connection)
                self.records = sections.read_file_states(connection)
                self.diagnostics = sections.read_diagnostics(connection)
                self.meta = meta
        except (sections.UnreadableIndex, sections.DatabaseError):
            pass
        finally:
            connection.close()

    def _compare(self, suspects: Sequence[SourceFile]) -> tuple[list[SourceFile], dict[str, Stamp]]:
        """Return the files with new content, and the new stamps of those that were only touched."""
        from skillc.compiler.read_files import fingerprint  # an unchanged skill is never read

        changes: list[SourceFile] = []
        stamps: dict[str, Stamp] = {}
        for file in suspects:
            record = self.records.get(utf8_text(file.name))
            digest, stamp = fingerprint(file) if record else ("", file.stamp)
            if record and record[0] == digest:
                stamps[file.name] = stamp
            else:
                changes.append(file)
        return changes, stamps

    def _write(
        self, changes: Sequence[SourceFile], stamps: dict[str, Stamp], removals: set[str], *, copy: bool
    ) -> BuildResult:
        """Write a new index, from a copy of the last or from nothing, and put it in place."""
        from skillc.compiler.read_files import read_all

        metadata = self._read_metadata(reuse=copy and all(file.name != self.main for file in changes))
        temporary = atomic.temporary_path(self.index_path)
        writer = None
        try:
            size = sum(file.size for file in self.files)
            last, tokenizer = self.index_path if copy else None, sections.choose_tokenizer(self.tokenizer)
            writer = sections.SectionWriter(temporary, tokenizer, size=size, copy_of=last)
            if copy:
                for name in removals.union(file.name for file in changes):
                    writer.remove(name)
                for name, stamp in stamps.items():
                    writer.restamp(name, stamp)
            for count, content in enumerate(read_all(changes, self.formats), 1):
                writer.add(*content)
                if self.progress:
                    self.progress(count, len(changes))
            writer.flush()
            return self._commit(writer, temporary, metadata, len(changes) + len(removals))
        finally:
            if writer is not None:
                writer.close()
            atomic.discard(temporary)

    def _read_metadata(self, reuse: bool) -> Metadata:
        """Return name and description; without them nothing is built [RFC-0001:C-INPUT]."""
        import json  # an unchanged skill does not need it

        from skillc.skills.document import Metadata, parse, read_metadata, require_description

        if reuse:  # SKILL.md has not changed: no need to load a YAML parser
            diagnostics = tuple(d for d in self.diagnostics if d.path == self.main and d.code != NO_ROOM)
            self.fields = json.loads(self.meta["fields"])
            return Metadata(self.meta["name"], self.meta["description"], {}, diagnostics)
        data = read_main_file(self.skill.source)
        self.main_digest = sha256_hex(data)
        document = parse(data)
        metadata = read_metadata(document, self.skill.segment)
        require_description(metadata.description)
        sources = document.frontmatter.sources() if document.frontmatter else {}
        self.fields = {key: text for key, text in sources.items() if key not in ("name", "description")}
        return metadata

    def _commit(self, writer: SectionWriter, temporary: str, metadata: Metadata, changes: int) -> BuildResult:
        import json

        from skillc.compiler.stub import MAX_REFERENCES, choose_fields, render_stub
        from skillc.skills import hash_source

        digests = writer.digests()
        if self.main_digest and digests[utf8_text(self.main)] != self.main_digest:
            raise _SourceChange
        whole_hash = hash_source((file.name, digests[utf8_text(file.name)]) for file in self.files)
        name, description = metadata.name, metadata.description
        headings, references = writer.headings_of(self.main), writer.references(self.main, MAX_REFERENCES)
        origin = self.skill.repository if self.skill.is_copy else ""
        parts = (name, description, self.skill.name, headings, *references, origin)
        keys = choose_fields(self.fields, render_stub(*parts))
        stub = render_stub(*parts, fields=(self.fields[key] for key in keys))
        left_out = (warning(NO_ROOM, key).at(self.main) for key in self.fields if key not in keys)
        # If files were only touched, it is the same build.
        now = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime()) if changes else self.meta["indexed_at"]
        new_manifest = sections.render_manifest(name, self.skill.source, whole_hash, now)
        writer.set_diagnostics(self.main, (*metadata.diagnostics, *left_out))
        self.diagnostics = writer.diagnostics()
        last_stub = self._read_stub()
        edits = self._keep_edited_stub(last_stub, stub.encode())
        writer.set_directories(self._stamp_directories(), is_large=len(self.files) > EXACT)
        tokenizer = sections.choose_tokenizer(self.tokenizer)
        writer.finish(
            {
                **sections.index_metadata(self.skill.source, whole_hash, tokenizer, self.formats, now),
                "name": name,
                "description": description,
                "fields": json.dumps(self.fields),
                "stub": stub,
                "manifest": new_manifest.decode(),
                "replaces": sha256_hex(self.last_manifest),
                "replaces_stub": sha256_hex(last_stub),
                "files": str(len(self.files)),
            }
        )
        os.replace(temporary, self.index_path)
        self.diagnostics += edits
        self._write_beside_index(stub.encode(), new_manifest)
        status = "unchanged" if not changes else "updated" if self.last_manifest else "built"
        return BuildResult(self, status, changes, whole_hash)

    def _stamp_directories(self) -> list[tuple[str, Stamp]]:
        """Return the directories with stamps that readers can trust.

        A directory that changed just before it was listed may have changed again within the same tick of the
        clock. Readers of a large skill ask its directories alone, so list them again when that tick is over:
        if the names are the same, they are those that were indexed.
        """
        stamps = [(path, settle(stamp_of(status), self.time)) for path, status in self.directories.items()]
        if len(self.files) <= EXACT or all(stamp[1] != UNSETTLED for _, stamp in stamps):
            return stamps
        sleep(max(0, self.time + SETTLED_NS - time_ns()) / 1e9)
        now = time_ns()
        files, directories = list_tree(self.skill.source)
        if [file.name for file in files] != [file.name for file in self.files]:
            return stamps
        return [(path, settle(stamp_of(status), now)) for path, status in directories.items()]

    def _write_beside_index(self, stub: bytes, new_manifest: bytes) -> None:
        """Attach the assets and write the stub and then the manifest, unless they are there already.

        The runtime on demand follows, if there is one [D75].
        """
        assets = find_assets(file.name for file in self.files)
        self.diagnostics += attach_assets(self.skill.source, self.runtime, assets)
        if self._read_stub() != stub:
            atomic.write(paths.stub_file(self.runtime), stub)
        if self.last_manifest != new_manifest:
            atomic.write(paths.manifest_file(self.runtime), new_manifest)
        if os.path.isdir(paths.on_demand_directory(self.runtime)):
            from skillc.compiler.on_demand import write_on_demand  # most skills are listed

            self.diagnostics += write_on_demand(self.skill.source, self.runtime, assets)[1]

    def _read_stub(self) -> bytes:
        try:
            return paths.read_regular(paths.stub_file(self.runtime), sys.maxsize)
        except OSError:
            return b""

    def _keep_edited_stub(self, last: bytes, new: bytes) -> tuple[Diagnostic, ...]:
        """Put a copy of the stub in the trash if it is neither the new one nor of a build before [D52].

        A person may take the stub in an agent's directory for the skill, and edit it. It stays in its place
        until the new one is written.
        """
        edits = self._keep_edited_stub_on_demand(new)
        if last in (b"", new) or sha256_hex(last) in self._stub_digests():
            return edits
        return (*edits, self._put_in_trash(paths.stub_file(self.runtime), last))

    def _keep_edited_stub_on_demand(self, new: bytes) -> tuple[Diagnostic, ...]:
        """Do the same for the stub on demand, which is made of the other one."""
        path = paths.stub_file(paths.on_demand_directory(self.runtime))
        try:
            last = paths.read_regular(path, paths.MAX_SKILL_FILE)
        except OSError:
            return ()  # there is mostly none
        from skillc.compiler.on_demand import hide_stub

        metas = read_indexes(self.runtime).values()
        stubs = (new, *(meta["stub"].encode() for meta in metas if meta.get("stub")))
        return () if last in map(hide_stub, stubs) else (self._put_in_trash(path, last),)

    @staticmethod
    def _put_in_trash(path: str, last: bytes) -> Diagnostic:
        from skillc import trash  # rarely needed

        copy = atomic.temporary_path(path)
        atomic.write(copy, last, durable=True)
        item = trash.put(copy, "an edited stub, which a build wrote anew", origin=path)
        return warning("W007", path, item.id)

    def _stub_digests(self) -> set[str]:
        """Return the digests of the stubs that builds into this runtime directory wrote last."""
        metas = [meta for meta in read_indexes(self.runtime).values() if meta]
        stubs = {sha256_hex(meta.get("stub", "").encode()) for meta in metas}
        return stubs.union(meta.get("replaces_stub", "") for meta in metas)


def read_indexes(runtime: str) -> dict[str, dict[str, str]]:
    """Return the metadata of the indexes in a runtime directory, by path; empty where it can't be read."""
    directory = paths.meta_directory(runtime)
    metas: dict[str, dict[str, str]] = {}
    for name in paths.list_names(directory) if not os.path.islink(directory) else ():
        if name.startswith("search-") and name.endswith(".db"):
            path = os.path.join(directory, name)
            try:
                with closing(sections.connect(path)) as connection:
                    metas[path] = sections.read_meta(connection)
            except sections.UnreadableIndex:
                metas[path] = {}
    return metas
