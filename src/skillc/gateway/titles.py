"""Find the headings that a title may mean if none equals it: as shown, cut at a dash, or spelt alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from skillc.gateway.freshness import Heading
from skillc.spelling import suggest
from skillc.text import fold_line, one_line

MAX_SUGGESTIONS = 5
MAX_DASHES = 64  # at which a title is cut, one after the other
STEM = 4  # letters by which words are compared
_DASH = " \N{EM DASH} "


def map_as_shown(headings: Iterable[Heading], files: Iterable[str]) -> dict[str, list[Heading]]:
    """Return headings by what a stub or an outline shows for them, case-folded.

    White space is folded there, what can't be printed is left out or written out, and a stub lists a file
    without a title by its path.
    """
    shown: dict[str, list[Heading]] = {}
    titles = set()
    for heading in headings:
        for form in {fold_line(heading.heading), fold_line(one_line(heading.heading))}:
            shown.setdefault(form.casefold(), []).append(heading)
        if heading.level == 1 and fold_line(heading.heading):
            titles.add(heading.file)
    for name in files:
        if name not in titles:
            shown.setdefault(fold_line(name).casefold(), []).append(Heading(name, name, 0, 1, 0))
    return shown


def suggest_titles(query: str, headings: Sequence[Heading]) -> list[tuple[str, str]]:
    """Return headings with their files: they begin with the query, contain it, look like it, share words."""
    if not query:
        return []
    every = dict.fromkeys((heading.heading, heading.file) for heading in headings)
    texts = [text for text in every if query in text[0].casefold()]
    texts.sort(key=lambda text: not text[0].casefold().startswith(query))
    if len(texts) < MAX_SUGGESTIONS:
        # A slash would stand for a collection.
        names = {heading.replace("/", "-"): (heading, file) for heading, file in reversed(every)}
        nearest = suggest(query.replace("/", "-"), names, MAX_SUGGESTIONS)
        texts += [names[name] for name in nearest if names[name] not in texts]
        headings_before = {heading for heading, _ in texts}
        texts += [text for text in _share_words(query, every) if text[0] not in headings_before]
    return texts[:MAX_SUGGESTIONS]


def _share_words(query: str, texts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return headings that have words of a query, most of them first; words count by how they begin."""
    wanted = _stems(query)
    scores = [(len(wanted & _stems(text[0].casefold())), text) for text in texts] if wanted else []
    return [text for score, text in sorted(scores, key=lambda each: -each[0]) if score]


def _stems(text: str) -> set[str]:
    """Return how the words of a text begin; of few letters are mostly those that say little."""
    words = "".join(letter if letter.isalnum() else " " for letter in text).split()
    return {word[:STEM] for word in words if len(word) >= STEM}


def parts_before_dashes(title: str) -> Iterator[str]:
    """Yield the text before each dash, longest first; of very many only some, and the shortest."""
    position = title.rfind(_DASH)
    for _ in range(MAX_DASHES):
        if position < 0:
            return
        yield title[:position].strip()
        position = title.rfind(_DASH, 0, position + 2)  # two dashes may share a space
    yield title.partition(_DASH)[0].strip()
