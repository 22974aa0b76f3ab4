"""From a folder with SKILL.md to its compiled form: stub, manifest and index in the runtime directory.

Nothing half-done is ever seen [D11]. The index holds the manifest and the stub of its build, and
renaming it is the moment the build becomes true; the two other files follow. A reader that meets
the moment between takes the index's word (`index.belongs_to`), and the next build finishes it.
"""

from __future__ import annotations

import os
from time import gmtime, strftime

from skillc import atomic, paths
from skillc.errors import IndexCollision, InvalidSkill, SkillcError
from skillc.index import manifest
from skillc.index.sections import reader, writer as indexing
from skillc.library import is_compiled
from skillc.skills import list_files, main_file
from skillc.startup.digest import sha256_hex
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillc.errors import Diagnostic
    from skillc.library import Skill
    from skillc.skills import Metadata, SourceFile

ATTEMPTS = 5  # builds of a folder that changes under them
COPY_UP_TO = 0.5  # the share of changed bytes up to which the old index is copied, not written anew


class Built:
    """What a build did: `status` is `built`, `updated` or `unchanged`; files are counted."""

    __slots__ = ("changed", "diagnostics", "files", "runtime", "skill", "source_hash", "status")

    def __init__(
        self,
        skill: Skill,
        runtime: str,
        status: str,
        files: int,
        changed: int,
        source_hash: str,
        diagnostics: tuple[Diagnostic, ...],
    ) -> None:
        self.skill = skill
        self.runtime = runtime
        self.status = status
        self.files = files
        self.changed = changed
        self.source_hash = source_hash
        self.diagnostics = diagnostics


def build_skill(
    skill: Skill,
    *,
    tokenizer: str = "ascii",
    formats: frozenset[str] = frozenset(),
    to_global: bool = False,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Built:
    """Compile a skill; what did not change since the last build is kept, unless `force` is given.

    `formats` are those of `compiler.formats` that are indexed beside Markdown and plain text.
    `progress` is told how many files are done, and of how many; what it raises ends the build, and
    the last one still serves.
    """
    main = main_file(skill.source)
    if is_compiled(skill.source):
        raise InvalidSkill(skill.source, "a compiled skill; build its source")
    runtime = skill.global_runtime() if to_global else skill.runtime()
    try:
        for directory in (os.path.dirname(paths.manifest_file(runtime)), paths.meta_directory(runtime)):
            os.makedirs(directory, exist_ok=True)
        with atomic.Lock(os.path.join(paths.meta_directory(runtime), "build.lock")):
            for _ in range(ATTEMPTS):
                try:
                    files = list_files(skill.source)
                    return _Build(skill, runtime, main, files, tokenizer, formats, progress).run(force)
                except (_Changing, FileNotFoundError):
                    continue
    except reader.Error as error:
        raise SkillcError(f"'{runtime}': {error}; the last build still serves") from error
    raise SkillcError(f"'{skill.source}' changes while it is built; the last build still serves, try again")


class _Changing(Exception):
    """A file was changed between two looks at it; the build starts over."""


class _Build:
    """One build, step by step, under the lock of its runtime directory."""

    def __init__(
        self,
        skill: Skill,
        runtime: str,
        main: str,
        files: Sequence[SourceFile],
        tokenizer: str,
        formats: frozenset[str],
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.skill = skill
        self.runtime = runtime
        self.progress = progress
        self.main = main
        self.files = files
        self.setting = tokenizer
        self.formats = formats
        self.index_path = paths.index_file(runtime, skill.source)
        self.last_manifest = manifest.read(runtime)
        # What the last index knows; empty where there is none to go on from.
        self.meta: dict[str, str] = {}
        self.known: dict[str, indexing.Known] = {}
        self.noticed: tuple[Diagnostic, ...] = ()
        self.main_digest = ""  # of the SKILL.md that name and description were read from

    def run(self, force: bool) -> Built:
        self._sweep()
        if not force:
            self._look_at_last_build()
        if not self.meta:
            return self._write(self.files, {}, set(), copy=False)
        suspects = [file for file in self.files if self._looks_changed(file)]
        gone = self.known.keys() - {utf8_text(file.name) for file in self.files}
        if not suspects and not gone:
            return self._keep()
        changed, touched = self._sort_out(suspects)
        whole = sum(file.size for file in self.files)
        copy = sum(file.size for file in changed) <= whole * COPY_UP_TO
        return self._write(changed if copy else self.files, touched, gone, copy=copy)

    def _sweep(self) -> None:
        """Remove what a killed build left; under the lock there is no other."""
        manifests = os.path.dirname(paths.manifest_file(self.runtime))
        for directory in (self.runtime, manifests, paths.meta_directory(self.runtime)):
            atomic.sweep(directory, older_than=0)

    def _look_at_last_build(self) -> None:
        """Learn what the last index knows, unless it can't be read or was written otherwise."""
        try:
            connection = reader.connect(self.index_path)
        except reader.Unreadable:
            return
        try:
            meta = reader.read_meta(connection)
            if meta["skill_path"] != utf8_text(self.skill.source):
                raise IndexCollision(paths.path_hash(self.skill.source))
            if indexing.is_current(meta, self.setting, self.formats):
                indexing.probe(connection)
                self.known = indexing.known_files(connection)
                self.noticed = indexing.diagnostics(connection)
                self.meta = meta
        except (reader.Unreadable, reader.Error):
            pass
        finally:
            connection.close()

    def _looks_changed(self, file: SourceFile) -> bool:
        known = self.known.get(utf8_text(file.name))
        return known is None or known[1] != file.stamp

    def _sort_out(
        self, suspects: Sequence[SourceFile]
    ) -> tuple[list[SourceFile], dict[str, tuple[int, int, int]]]:
        """Which files hold something new, and the new stamps of those that were only touched."""
        from skillc.compiler.read_files import fingerprint  # an unchanged skill is never read

        changed: list[SourceFile] = []
        touched: dict[str, tuple[int, int, int]] = {}
        for file in suspects:
            known = self.known.get(utf8_text(file.name))
            digest, stamp = fingerprint(file.path) if known else ("", file.stamp)
            if known and known[0] == digest:
                touched[file.name] = stamp
            else:
                changed.append(file)
        return changed, touched

    def _keep(self) -> Built:
        """The last build stands: make sure that stub and manifest are there too."""
        self._put_beside_index(self.meta["stub"].encode(), self.meta["manifest"].encode())
        return self._built("unchanged", 0, self.meta["source_hash"], self.noticed)

    def _write(
        self,
        changed: Sequence[SourceFile],
        touched: dict[str, tuple[int, int, int]],
        gone: set[str],
        *,
        copy: bool,
    ) -> Built:
        """Write a new index, from a copy of the last or from nothing, and make it true."""
        from skillc.compiler.read_files import read_all

        metadata = self._metadata(anew=not copy or any(file.name == self.main for file in changed))
        temporary = atomic.beside(self.index_path)
        writer = None
        try:
            writer = indexing.Writer(
                temporary,
                reader.preference(self.setting),
                size=sum(file.size for file in self.files),
                copy_of=self.index_path if copy else None,
            )
            if copy:
                for name in gone.union(file.name for file in changed):
                    writer.remove(name)
                for name, stamp in touched.items():
                    writer.restamp(name, stamp)
            for done, content in enumerate(read_all(changed, self.formats), 1):
                writer.add(content)
                if self.progress:
                    self.progress(done, len(changed))
            writer.flush()
            return self._commit(writer, temporary, metadata, len(changed) + len(gone))
        finally:
            if writer is not None:
                writer.close()
            atomic.discard(temporary)

    def _metadata(self, anew: bool) -> Metadata:
        """Name and description; without them nothing is built [RFC-0001:C-INPUT]."""
        from skillc.skills import Metadata, metadata, parse

        if not anew:  # SKILL.md is as it was: no need to load a YAML parser
            noticed = tuple(diagnostic for diagnostic in self.noticed if diagnostic.path == self.main)
            return Metadata(self.meta["name"], self.meta["description"], {}, noticed)
        with open(os.path.join(self.skill.source, self.main), "rb") as file:
            raw = file.read()
        self.main_digest = sha256_hex(raw)
        return metadata(parse(raw), self.skill.segment)

    def _commit(self, writer: indexing.Writer, temporary: str, metadata: Metadata, changed: int) -> Built:
        from skillc.compiler import stub
        from skillc.skills import source_hash

        digests = writer.digests()
        if self.main_digest and digests[utf8_text(self.main)] != self.main_digest:
            raise _Changing
        whole = source_hash((file.name, digests[utf8_text(file.name)]) for file in self.files)
        references, count = writer.references(self.main, stub.MAX_REFERENCES)
        outline = writer.headings_of(self.main)
        other = self.skill.repository if self.skill.is_copy else ""
        text = stub.render(
            metadata.name, metadata.description, self.skill.name, outline, references, count, other
        )
        now = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
        if not changed:
            now = self.meta["indexed_at"]  # files were only touched: it is the same build
        new_manifest = manifest.render(metadata.name, self.skill.source, whole, now)
        writer.note(self.main, metadata.diagnostics)
        noticed = writer.diagnostics()
        writer.finish(
            {
                **indexing.metadata(
                    self.skill.source, whole, reader.preference(self.setting), self.formats, now
                ),
                "name": metadata.name,
                "description": metadata.description,
                "stub": text,
                "manifest": new_manifest.decode(),
                "replaces": sha256_hex(self.last_manifest),
            }
        )
        os.replace(temporary, self.index_path)
        self._put_beside_index(text.encode(), new_manifest)
        status = "unchanged" if not changed else "updated" if self.last_manifest else "built"
        return self._built(status, changed, whole, noticed)

    def _put_beside_index(self, stub: bytes, new_manifest: bytes) -> None:
        """Write the stub and, last, the manifest, where they are not there already."""
        stub_path = paths.stub_file(self.runtime)
        if not _holds(stub_path, stub):
            atomic.write(stub_path, stub)
        if self.last_manifest != new_manifest:
            atomic.write(paths.manifest_file(self.runtime), new_manifest)

    def _built(self, status: str, changed: int, whole: str, noticed: tuple[Diagnostic, ...]) -> Built:
        return Built(self.skill, self.runtime, status, len(self.files), changed, whole, noticed)


def _holds(path: str, data: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read() == data
    except OSError:
        return False
