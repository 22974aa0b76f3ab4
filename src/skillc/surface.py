"""What an operation is given by the surface that calls it: where it works, a person, a place for progress.

The command line has a terminal for the last two. A program that calls an operation has neither: `UNATTENDED`
answers no question, and `SILENT` shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from skillc.errors import Diagnostic, SkillcError
    from skillc.settings import Settings


class Person(Protocol):
    """A person to ask. Without `can_answer`, an operation decides itself, or says what it has to be told."""

    @property
    def can_answer(self) -> bool: ...

    def show(self, text: str) -> None:
        """Show what is about to be done, without a question."""

    def ask(self, question: str) -> str:
        """Return the answer to a question: a line of text, or nothing."""
        ...

    def confirm(self, text: str, question: str) -> bool:
        """Show a text, and return whether the answer to the question is yes."""
        ...

    def confirm_some(self, text: str, question: str, choices: Sequence[tuple[str, str]]) -> Sequence[str]:
        """Show a text, and return the names for which the answer is yes, of names with what to call them."""
        ...

    def choose(self, title: str, choices: Sequence[tuple[str, str]]) -> Sequence[str]:
        """Show names, each with a description, and return those that are chosen."""
        ...


class Steps(Protocol):
    """Steps of one activity that are counted."""

    def step(self, name: str) -> None:
        """Count a step, which is about `name`."""

    def step_of(self, name: str, total: int) -> None:
        """Count a step of as many as turned out to be needed."""

    def reach(self, count: int, name: str) -> None:
        """Show that `count` of all are done."""

    def say(self, text: str) -> None:
        """Print a line that stays."""

    def clear(self) -> None:
        """Make way for what is printed elsewhere."""


class Progress(Protocol):
    """A place that shows what an operation is doing."""

    def activity(self, text: str) -> AbstractContextManager[None]:
        """Say what is done inside the block."""
        ...

    def steps(self, total: int, unit: str) -> AbstractContextManager[Steps]:
        """Count the steps that are done inside the block."""
        ...


class Here(Protocol):
    """A directory in which an operation works, and what its surface gives it: a `Workspace`."""

    cwd: str
    person: Person
    progress: Progress
    report: Callable[[str], None]  # gets a line for people

    def settings(self) -> Settings:
        """Return the settings in force here; report what is wrong with them."""
        ...

    def tell(self, diagnostics: Iterable[Diagnostic], failures: Iterable[SkillcError] = ()) -> None:
        """Report diagnostics, a line each, and the errors of parts that failed while the rest went on."""

    def renew_listings(self, dry_run: bool = False) -> None:
        """Do what listings need after skills changed; no command fails for it."""


class Unattended:
    """Nothing is shown, and every answer is no, or empty."""

    can_answer = False

    def show(self, text: str) -> None: ...

    def ask(self, question: str) -> str:
        return ""

    def confirm(self, text: str, question: str) -> bool:
        return False

    def confirm_some(self, text: str, question: str, choices: Sequence[tuple[str, str]]) -> Sequence[str]:
        return ()

    def choose(self, title: str, choices: Sequence[tuple[str, str]]) -> Sequence[str]:
        return ()


class Silent:
    """Progress that is not shown; it is its own steps."""

    def activity(self, text: str) -> AbstractContextManager[None]:
        return nullcontext()

    def steps(self, total: int, unit: str) -> AbstractContextManager[Steps]:
        return nullcontext(self)

    def step(self, name: str) -> None: ...

    def step_of(self, name: str, total: int) -> None: ...

    def reach(self, count: int, name: str) -> None: ...

    def say(self, text: str) -> None: ...

    def clear(self) -> None: ...


UNATTENDED = Unattended()
SILENT = Silent()
