"""Names that are most like one that is not there, for whoever mistyped it.

>>> nearest("refund", ["billing/refunds", "billing/invoices"])
('billing/refunds',)
>>> nearest("PDF_forms", ["pdf-forms", "docx"])
('pdf-forms',)
>>> nearest("weather", ["pdf-forms", "docx"])
()
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 3
MAX_LENGTH = 200  # of a name that somebody may have meant
MANY = 2000  # names that are compared letter by letter; of more, the first with the same first letter
ALIKE = 0.65  # of 1, for names that differ in letters
PART = 0.5  # what it counts that one name is in the other
SHORTEST = 3  # letters of such a part


def nearest(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that `name` may have been meant for, best first, equals by name."""
    wanted = _plain(name)
    if not wanted or len(name) > MAX_LENGTH:
        return ()
    known = [(other, _plain(other)) for other in {*names} if len(other) <= MAX_LENGTH and other != name]
    same = [other for other, plain in known if plain == wanted]  # written otherwise, or in another collection
    if same:
        return tuple(sorted(same)[:MOST])
    if len(known) > MANY:
        known = [(other, plain) for other, plain in known if plain[:1] == wanted[:1]]
    scored = [(-_likeness(wanted, plain), other) for other, plain in sorted(known)[:MANY]]
    return tuple(other for score, other in sorted(scored)[:MOST] if score)


def _likeness(one: str, two: str) -> float:
    """From 0, unlike, to 1, the same."""
    from difflib import SequenceMatcher  # only where something was not found

    matcher = SequenceMatcher(None, one, two, autojunk=False)
    if matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE:
        return matcher.ratio()
    shorter, longer = sorted((one, two), key=len)
    return PART if len(shorter) >= SHORTEST and shorter in longer else 0.0


def _plain(name: str) -> str:
    """The last segment of a name or path, in the letters of an ID."""
    last = name.rstrip("/").rpartition("/")[2]
    return last.casefold().replace("_", "-").replace(" ", "-")
