"""Say what was found in the skills of all repositories: repaired, quarantined, shadowed or hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from skillc.contract import HIDDEN, Result
from skillc.errors import WARNINGS, InvalidOption
from skillc.library.sources import SourceDiagnostic
from skillc.spelling import did_you_mean

# By the first characters of a code.
ADVICE = {
    (
        "E01",
        "W01",
        "W021",
    ): "To put skills right: skc lint <path> says what is wrong, and --fix repairs what is safe.",
    ("W022",): "Shadowed skills (W022) are in two repositories: rename or remove one, or leave it so.",
    ("W023",): "Hidden skills (W023) show once 'capabilities' in skills.toml names what they need.",
    ("E200", "W20"): "Repositories that do not answer (E200): skc repo sync <name> tries again and says why.",
}


@dataclass(frozen=True, slots=True)
class LibraryFinding:
    """Something about a skill, or about the repository that it is in."""

    source_name: str
    path: str | None
    code: str
    severity: str
    message: str


@dataclass(frozen=True, slots=True)
class LibraryFindings(Result):
    """The findings that were asked for, of `total` in all."""

    diagnostics: tuple[LibraryFinding, ...]
    total: int = field(metadata=HIDDEN)

    @property
    def errors(self) -> int:
        return sum(each.severity == "error" for each in self.diagnostics)

    def count_codes(self) -> list[tuple[str, int]]:
        """Return how often each code was found, most first."""
        return Counter(each.code for each in self.diagnostics).most_common()

    def advice(self) -> list[str]:
        """Return what to do about the codes that were found."""
        codes = {each.code for each in self.diagnostics}
        return [text for starts, text in ADVICE.items() if any(code.startswith(starts) for code in codes)]


def parse_codes(words: Iterable[str]) -> list[str]:
    """Return codes of diagnostics; raises InvalidOption for a word that is none."""
    codes = [word.upper() for word in words]
    for code in codes:
        if code not in WARNINGS and not code.startswith("E"):
            question = did_you_mean(code, WARNINGS)
            raise InvalidOption(f"there is no code '{code}'{f'; {question}' if question else ''}")
    return codes


def choose_findings(
    diagnostics: Sequence[SourceDiagnostic], repository: str | None, codes: Sequence[str], errors: bool
) -> LibraryFindings:
    """Return the findings of one repository, with some codes, or the errors alone."""
    chosen = [
        LibraryFinding(each.source_name, each.path, each.code, each.severity, each.message)
        for each in diagnostics
        if (repository is None or each.source_name == repository)
        and (not codes or each.code in codes)
        and (not errors or each.severity == "error")
    ]
    return LibraryFindings(tuple(chosen), len(diagnostics))
