"""Let a person pick from a list with arrow keys, in the last lines of the terminal; what is above them stays.

It is drawn on stderr, as all questions are. Where the cursor can't be moved, `can_pick` is false, and the
question is a plain one. Ctrl+Z and an end from outside give the terminal back as it was.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from select import select

from skillc.cli import AGENT_VARIABLES, PlainStream
from skillc.cli.progress import pause
from skillc.cli.terminal import LOOKALIKE, has_person, is_dumb, measure
from skillc.tables import width_of
from skillc.text import fold_line

UP, DOWN, HOME, END, PAGE_UP, PAGE_DOWN, ENTER, ALL, ERASE, CLEAR, LEAVE = range(11)
SEQUENCES = {
    UP: "\x1b[A \x1bOA \x10",  # the last is Ctrl+P
    DOWN: "\x1b[B \x1bOB \x0e",
    HOME: "\x1b[H \x1bOH \x1b[1~",
    END: "\x1b[F \x1bOF \x1b[4~",
    PAGE_UP: "\x1b[5~",
    PAGE_DOWN: "\x1b[6~",
    ENTER: "\r \n",
    ALL: "\x01",
    ERASE: "\x7f \b",
    CLEAR: "\x15",
    LEAVE: "\x1b \x03 \x04",
}
KEYS = {text: key for key, texts in SEQUENCES.items() for text in texts.split(" ")}
_KEY = re.compile(r"\x1b\[[0-9;?]*[@-~]|\x1bO.|\x1b[^\x1b]|.", re.DOTALL)
_START = re.compile(r"\x1b(\[[0-9;?]*|O)?$")  # of a key of which more may come
PATIENCE = 0.1  # seconds until Esc is a key of its own
MAX_ROWS = 20  # of the list at once
MANY = 10  # choices, from which typing a letter filters them
FEW_ROWS = 8  # of a terminal that has none to spare for hints
HINTS = ("up/down move", "space chooses", "a all or none", "/ filters", "Enter goes on", "Esc leaves")
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
BOLD, FAINT, GREEN = "1", "2", "32"

Choice = tuple[str, str, str]  # the name that is returned, what is shown for it, and a text beside that
Part = tuple[str, str]  # of a line: a text and its style


def can_pick() -> bool:
    """Return whether there is a person at a terminal whose cursor can be moved."""
    if (
        os.name != "posix"
        or not os.environ.get("TERM")
        or is_dumb()
        or any(map(os.environ.get, AGENT_VARIABLES))
    ):
        return False
    return has_person()


def pick(title: str, choices: Sequence[Choice], chosen: Collection[str] = ()) -> list[str]:
    """Return the names that a person picks, `chosen` being picked at first; none if the person leaves."""
    selection = Selection(
        [(name, _printable(label), _printable(note)) for name, label, note in choices], chosen
    )
    block = _Block(_printable(title), selection)
    with pause(), block.attend():
        for key in _read_keys(sys.stdin.fileno()):
            if not selection.press(key):
                break
            block.draw()
        else:
            selection.chosen.clear()  # the terminal is gone
    return selection.names()


class Selection:
    """A list, the part of it that matches what was typed, and what is chosen, as keys change them."""

    def __init__(self, choices: Sequence[Choice], chosen: Collection[str]) -> None:
        self._choices = choices
        self._texts = [f"{label} {note}".lower() for _, label, note in choices]
        self.chosen = set(chosen)
        self.pattern: str | None = None  # what was typed; None before `/`
        self.matches = choices
        self.cursor = 0
        self.top = 0  # the first choice that is shown
        self.rows = MAX_ROWS  # how many are shown; set by the drawing
        self.note = ""

    def names(self) -> list[str]:
        return [name for name, _, _ in self._choices if name in self.chosen]

    def labels(self) -> list[str]:
        return [label for name, label, _ in self._choices if name in self.chosen]

    def size(self) -> int:
        return len(self._choices)

    def press(self, key: str) -> bool:
        """Do what a key says; return whether to go on."""
        self.note, code = "", KEYS.get(key)
        moves = {
            UP: -1,
            DOWN: 1,
            PAGE_UP: -self.rows,
            PAGE_DOWN: self.rows,
            HOME: -self.size(),
            END: self.size(),
        }
        if code == LEAVE:
            self.chosen.clear()
            return False
        if code == ENTER:
            self.note = "" if self.chosen else "Nothing is chosen: space chooses, Esc leaves."
            return not self.chosen
        if code in moves:
            self._move(moves[code], is_round=code in (UP, DOWN))
        elif code == ALL or (key == "a" and self.pattern is None):
            self._toggle([name for name, _, _ in self.matches])
        elif key == " ":
            self._toggle([name for name, _, _ in self.matches[self.cursor : self.cursor + 1]])
        else:
            self._type(key, code)
        return True

    def _move(self, steps: int, *, is_round: bool) -> None:
        count, place = len(self.matches), self.cursor + steps
        if count:
            self.cursor = place % count if is_round else min(max(place, 0), count - 1)

    def _toggle(self, names: Sequence[str]) -> None:
        self.chosen = (
            self.chosen.difference(names) if self.chosen.issuperset(names) else self.chosen.union(names)
        )

    def _type(self, key: str, code: int | None) -> None:
        """Change what the list is filtered by; in a long list, a letter starts it as `/` does."""
        pattern = self.pattern
        if code in (ERASE, CLEAR) and pattern is not None:
            self.pattern = (pattern[:-1] if code == ERASE else "") or None
        elif code is None and key.isprintable() and (pattern is not None or len(self._choices) > MANY):
            self.pattern = (pattern or "") + ("" if key == "/" and pattern is None else key)
        elif key == "/":
            self.pattern = ""
        words = (self.pattern or "").lower().split()
        pairs = zip(self._choices, self._texts, strict=True)
        matches = [choice for choice, text in pairs if all(word in text for word in words)]
        # What has the words in its name comes first.
        self.matches = sorted(
            matches, key=lambda choice: not all(word in choice[1].lower() for word in words)
        )
        self.cursor = min(self.cursor, max(len(self.matches) - 1, 0)) if self.pattern == pattern else 0

    def window(self, rows: int) -> range:
        """Return the numbers of the matches that are shown in as many rows, the cursor's among them."""
        self.rows = rows
        self.top = max(min(self.top, self.cursor, len(self.matches) - rows), self.cursor - rows + 1, 0)
        return range(self.top, min(self.top + rows, len(self.matches)))


class _Block:
    """The lines of the terminal in which a selection is drawn."""

    def __init__(self, title: str, selection: Selection) -> None:
        self._title, self._selection = title, selection
        self._is_painted = isinstance(sys.stderr, PlainStream) and sys.stderr.is_painted
        self._widths: list[int] = []  # of the lines that are there

    def draw(self) -> None:
        """Draw the list in the place of what was drawn before."""
        columns, rows = measure()
        lines = [_fit(line, columns - 1) for line in self._lines(columns - 1, rows - 1)]
        text = "\n".join("".join(self._paint(*part) for part in line) for line in lines)
        _write(f"{self._erase(columns)}{HIDE_CURSOR}{text}")
        self._widths = [sum(width_of(part) for part, _ in line) for line in lines]

    def _erase(self, columns: int) -> str:
        """Return what takes the lines away; a terminal that got narrower has wrapped them."""
        rows = sum(max(1, -(-width // columns)) for width in self._widths)
        return (f"\x1b[{rows - 1}A" if rows > 1 else "") + "\r\x1b[J"

    def _lines(self, width: int, rows: int) -> list[list[Part]]:
        """Return the lines, at most as many as there are rows."""
        selection = self._selection
        count = f"  {len(selection.chosen)} of {selection.size()} chosen"
        title = _crop(self._title, max(width - len(count), width // 2))
        head: list[list[Part]] = [[(title, BOLD), (count, FAINT)]]
        if rows >= FEW_ROWS:
            head += [[(line, FAINT)] for line in _join(HINTS, width)]
        if selection.pattern is not None:
            head.append([("/", BOLD), (selection.pattern, ""), ("_", FAINT)])
        room = max(min(rows - len(head) - 1, MAX_ROWS), 1)
        shown = selection.window(room)
        foot = selection.note or ("" if selection.matches else "Nothing matches.")
        if not foot and len(shown) < len(selection.matches):
            foot = f"{shown.start + 1} to {shown.stop} of {len(selection.matches)}"
        label_width = min(max((width_of(selection.matches[n][1]) for n in shown), default=0), width // 2)
        items = [self._item(n, label_width) for n in shown]
        return [*head, *items, *([[(foot, FAINT)]] if foot else [])][:rows]

    def _item(self, number: int, label_width: int) -> list[Part]:
        name, label, note = self._selection.matches[number]
        is_here, is_chosen = number == self._selection.cursor, name in self._selection.chosen
        label = _crop(label, label_width) if note else label
        fill = " " * (label_width - width_of(label) + 2) if note else ""
        return [
            ("> " if is_here else "  ", BOLD),
            ("[x] " if is_chosen else "[ ] ", GREEN if is_chosen else ""),
            (label, BOLD if is_here else ""),
            (fill + note, FAINT),
        ]

    def _paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if style and text and self._is_painted else text

    @contextmanager
    def attend(self) -> Iterator[None]:
        """Draw the list and get keys one by one; at the end, a line says what was chosen."""
        import termios  # of POSIX alone
        import tty

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)

        def start() -> None:
            tty.setcbreak(terminal, termios.TCSAFLUSH)  # keys from before the list was there are no answer
            self.draw()

        def stop() -> None:
            _write(f"{self._erase(measure()[0])}{SHOW_CURSOR}")
            self._widths = []
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

        with _signals(start, stop, self.draw):
            try:
                start()
                yield
            except KeyboardInterrupt:
                self._selection.chosen.clear()
                raise KeyboardInterrupt("nothing was done") from None
            finally:
                stop()
                _write(f"{self._title} {', '.join(self._selection.labels()) or 'nothing'}\n")


@contextmanager
def _signals(start: Callable[[], None], stop: Callable[[], None], draw: Callable[[], None]) -> Iterator[None]:
    """Give the terminal back before the process is stopped or ended, and draw again where it changed."""

    def step_aside(number: int, _frame: object) -> None:
        stop()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.signal(number, step_aside)  # after Ctrl+Z, when it goes on
        start()

    handlers = dict.fromkeys((signal.SIGTSTP, signal.SIGTERM, signal.SIGHUP), step_aside)
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    before[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda number, frame: draw())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _read_keys(terminal: int) -> Iterator[str]:
    """Yield keys as they are pressed, until the terminal is gone: characters and escape sequences."""
    decode = getincrementaldecoder("utf-8")("ignore").decode
    try:
        while data := os.read(terminal, 1024):
            text = decode(data)
            while _START.search(text) and select([terminal], [], [], PATIENCE)[0]:
                text += decode(os.read(terminal, 1024))
            yield from _KEY.findall(text)
    except OSError:
        return


def _fit(parts: Sequence[Part], width: int) -> list[Part]:
    """Return the parts of a line in at most `width` columns."""
    line: list[Part] = []
    for text, style in parts:
        line.append((_crop(text, width), style))
        width -= width_of(line[-1][0])
    return line


def _crop(text: str, width: int) -> str:
    if width_of(text) <= width:
        return text
    dots = "..."[: max(width, 0)]
    text = text[: max(width, 0)]
    while text and width_of(text) > width - len(dots):
        text = text[:-1]
    return text + dots


def _join(texts: Sequence[str], width: int) -> list[str]:
    """Return texts with commas between them, in lines that are no wider than `width` if that can be."""
    lines = [texts[0]]
    for text in texts[1:]:
        if len(lines[-1]) + len(text) + 3 > width:  # with a comma behind it
            lines[-1] += ","
            lines.append(text)
        else:
            lines[-1] += f", {text}"
    return lines


def _printable(text: str) -> str:
    """Return a text on one line in characters that the terminal has, without what it acts on."""
    encoding = sys.stderr.encoding or "ascii"
    return fold_line(text).encode(encoding, LOOKALIKE).decode(encoding)


def _write(text: str) -> None:
    """Write to the terminal itself, with our own sequences, at once."""
    sys.stderr.flush()
    data = text.encode(sys.stderr.encoding or "ascii", LOOKALIKE)
    try:
        while data:
            data = data[os.write(sys.stderr.fileno(), data) :]
    except OSError:
        pass  # it is gone
