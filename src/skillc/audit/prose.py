"""Find instructions to the agent that a person should see: secrecy, orders against orders, data to send away.

A sentence is about concepts, whose words `lexicon.txt` has by language, and concepts that are near each other
make an intent. What is said in other words is missed; docs/audit-measured.md has the numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from skillc.audit import indicators
from skillc.audit.findings import Trace
from skillc.audit.patterns import load_pattern, table, word_set

MAX_SENTENCE = 1000
MIN_TOLD = 50  # bytes of a sentence, so that languages count alike
UNKNOWN = "unknown"  # language of a text without everyday words of those that we know
WINDOW = 6  # sentences, or steps of a list, that belong together
NEAR = {"A40": 3}  # of them for a rule whose words are common

_PAGES = load_pattern("pages")
_EXAMPLE = load_pattern("for-example")
_PASSWORD = load_pattern("password")
_PACKAGE = load_pattern("package")
_LINK = load_pattern("link")
_MARKS = str.maketrans("", "", "*`\u00ad\u200b\u200c\u200d\u2060\ufeff")
_MIXED = re.compile(r"\w*[A-Za-z'’‘ʼ][\w'’‘ʼ]*")  # words with Latin letters, and others that look like them
_CONFUSABLE = str.maketrans("аеорсухіјѕԁһѵАВЕКМНОРСТУХІЈЅ’‘ʼ", "aeopcyxijsdhvABEKMHOPCTYXIJS'''")


_CONFUSED = re.compile(f"[{''.join(map(chr, _CONFUSABLE))}]")


def check_prose(text: str, trace: Trace, line: int = 1, *, is_script: bool = False) -> None:
    """Report instructions in a text; in scripts and data, which have words of all kinds, the plainest."""
    text = _plain(text)
    languages = find_languages(text)
    window: deque[_Sentence] = deque(maxlen=WINDOW)
    for sentence in _sentences(text, languages):
        window.appendleft(sentence)
        if not (sentence.is_plain if is_script else sentence.is_notable):
            continue
        _check_download(sentence, trace, line + sentence.line)
        recent = [each for each in window if not each.is_refusal]
        if recent and recent[0] is sentence:
            inner = trace.branch()
            _check_intents(recent, inner, line + sentence.line)
            is_example = _QUOTATION.search(sentence.text) and any(each.has("warning") for each in window)
            trace.take_over(inner, (), "note" if is_example else "review" if is_script else "")


def _plain(text: str) -> str:
    """Return a text without marks of emphasis and hidden characters, look-alike letters as plain ones."""
    if not text.isascii():
        text = "\n".join(unicodedata.normalize("NFKC", part) for part in text.split("\n"))
        if _CONFUSED.search(text):
            text = _MIXED.sub(lambda match: match[0].translate(_CONFUSABLE), text)
    return text.translate(_MARKS)


_QUOTATION = re.compile(r"[\s>*+-]*(?:\d+[.)]\s*)?[\"“„«»‹「『《'‘]")


class Intent(NamedTuple):
    """An order to the agent or the reader, known by concepts that stand in sentences near each other."""

    rule: str
    level: str
    groups: tuple[tuple[str, ...], ...]
    message: str


def _read_intents(text: str) -> tuple[Intent, ...]:
    rows = (line.split(": ") for line in text.strip().split("\n"))
    return tuple(
        Intent(
            head[:3],
            "" if head[3] == "!" else "review",
            tuple(tuple(group.split()) for group in head[4:].split(",")),
            message,
        )
        for head, message in rows
    )


_INTENTS = _read_intents(table("prose")["intents"])
# Concepts that are rare: a sentence without one of them, or an address, completes no intent.
_KEYS = sorted(
    word_set(
        "secret ignore outrank others spread quiet hush unasked lie pretext consent terminal keys startup"
        " root door grant place memory guard shield all ours obey decode pin money sabotage promote"
        " report lull lifted prompts dictate access vault homes pay payee backdoor stash favour conceal veil"
        " lookup untrue"
    )
)
_PICTURE = re.compile(
    r"!\[[^\]\n]{0,200}\]\(https?://[^)\s]{0,500}[?&=][^)\s]{0,300}(?:<|\{|%7B|\$|=\)|=[A-Z][A-Z_]{1,30}[)&])"
)


_MAIL = re.compile(r"[\w.+-]{1,64}@([\w-]{1,63}(?:\.[\w-]{1,63})+)")
_ADDRESS = re.compile(rf"\b[a-z]{{2,10}}://[^\s<>\"'）]+|{_MAIL.pattern}", re.IGNORECASE)


# A host without a scheme: with a path, or of three parts, since two may be a product's name.
_BARE_HOST = load_pattern("bare-host")


# Words that say that something comes from an address: before it, or after it.
_SOURCE = load_pattern("source-of-address")


class _Sentence:
    """A sentence and what it is about, which is looked up when it is asked for."""

    def __init__(self, text: str, languages: Sequence[str], line: int) -> None:
        self.text = text
        self.line = line
        self.hosts = indicators.find_far_hosts(_BARE_HOST.sub(r" https://\g<0> ", text))
        self.places = [host for host in self.hosts if not _PAGES.search(host)]
        self.is_foreign = UNKNOWN in languages
        self._languages = [each for each in languages if each not in LETTERS] if text.isascii() else languages
        self._words = _BARE_HOST.sub(" ", _ADDRESS.sub(" ", text))  # the name of a host says nothing
        self._known: dict[str, bool] = {
            "host": bool(self.places),
            "picture": "](" in text and bool(_PICTURE.search(text)),
            "mail": "@" in text and any(not indicators.is_near(match[1]) for match in _MAIL.finditer(text)),
        }

    def has(self, concept: str) -> bool:
        if concept not in self._known:
            composed = _COMPOSED.get(concept)
            self._known[concept] = composed(self) if composed else self.has_words(concept)
        return self._known[concept]

    def has_words(self, concept: str, without: re.Pattern[str] | None = None) -> bool:
        words = without.sub(" ", self._words) if without else self._words
        return has_concept(words, self._languages, concept)

    def has_all(self, concepts: Iterable[str]) -> bool:
        return all(self.has(concept.removeprefix("=")) for concept in concepts)

    @property
    def is_notable(self) -> bool:
        """Whether it can complete an intent: one search for what each of them needs."""
        if self.hosts or self._known["picture"] or self._known["mail"]:
            return True
        return has_concept(self._words, self._languages, *_KEYS)

    @property
    def is_plain(self) -> bool:
        """Whether it is an instruction even where sentences are rare."""
        if (self.places and self.has("secret")) or self.has_all(("vault", "send")):
            return True
        if self.has("named") and any(map(_tells_of_place, self.text.split('"'))):  # in one value of data
            return True
        return self.has("outrank") or self.has("ignore") or self.has_all(("quiet", "user"))

    @cached_property
    def is_refusal(self) -> bool:
        """Whether it tells not to send something, or is about those that do; not telling is no refusal."""
        if self.has("warning"):
            return True
        if not self.has("not"):
            return False
        return self.has_besides(("quiet", "unasked"), "refusal", "kept")

    def has_besides(self, others: Sequence[str], *concepts: str) -> bool:
        """Whether it has one of the concepts, apart from the words of others."""
        rest = self._words
        for language in self._languages:
            for other in others:
                pattern = pattern_of(language, other)
                rest = pattern.sub(" ", rest) if pattern else rest
        return has_concept(rest, self._languages, *concepts)


def _tells_of_place(text: str) -> bool:
    """Whether a text of some length names a place itself, not in a link or as a reference."""
    rest = _LINK.sub(" ", text)
    place = indicators.find_far_hosts(_BARE_HOST.sub(r" https://\g<0> ", rest)) or _MAIL.search(rest)
    return bool(place) and len(_BARE_HOST.sub(" ", _ADDRESS.sub(" ", rest)).encode()) > MIN_TOLD


def _any_of(*concepts: str) -> Callable[[_Sentence], bool]:
    return lambda each: any(map(each.has, concepts))


# Concepts that are made of others.
_COMPOSED: dict[str, Callable[[_Sentence], bool]] = {
    "target": _any_of("host", "mail"),
    "private": _any_of("secret", "personal", "pin", "valuables", "details"),
    "covert": _any_of("unseen", "unasked", "lie", "pretext", "consent", "omit", "lull"),
    "silence": _any_of("quiet", "hush"),
    "cover": _any_of("conceal", "veil"),
    "story": _any_of("pretext", "lie", "untrue"),
    "wealth": _any_of("secret", "valuables", "pass"),
    "protection": _any_of("guard", "shield"),
    "halt": _any_of("disable", "stop"),
    # Not to do something without asking is the opposite.
    "unasked": lambda each: each.has_besides(("asked",), "unasked"),
    # Not to show a secret, or not to ask for one, protects it.
    "unseen": lambda each: each.has("silence") and not each.has("wealth"),
    "leave": lambda each: each.has("grant") and not each.has("not"),
    "mask": lambda each: (each.has("quiet") or each.has("cover")) and not each.has("wealth"),
    "freely": lambda each: each.has("consent") or (each.has("unasked") and not each.has("wealth")),
    # What must not be pretended is no pretext.
    "excuse": lambda each: each.has("lull") or (each.has("story") and not each.has_words("honesty")),
    # What names one thing of several is an order like others.
    "warning": lambda each: each.has_words("warning", without=_EXAMPLE),
    # To a place, not from it; other than a request to a service, which is how it is used.
    "towards": lambda each: each.has("target") and not _SOURCE.search(each.text),
    "dispatch": lambda each: each.has_all(("towards", "transfer")) and not each.has("usage"),
    # Where no words are known, the place alone has to say it.
    "named": lambda each: (
        each.is_foreign and each.has("towards") and not each.has("usage") and _tells_of_place(each.text)
    ),
    # Left out of what the user reads.
    "omit": lambda each: (
        (each.has_words("omit") or each.has_all(("not", "appear", "report"))) and not each.has("wealth")
    ),
}


def _sentences(text: str, languages: Sequence[str]) -> Iterator[_Sentence]:
    """Yield the sentences with the number of their first line from 0; a list's item is one."""
    line = position = 0
    for match in re.finditer(
        r"#{1,6} [^\n]*|(?:!\[[^\]\n]{0,500}\]\([^)\n]{0,500}\)|[^.!?。！？।؟\n]"
        r"|[.!?](?!\s)|\n(?![ \t]{0,20}(?:[-*+#>|\n]|\d{1,9}[.)]|```)))+",
        text,
    ):
        line += text.count("\n", position, match.start())
        position = match.start()
        if len(match[0]) > (20 if match[0].isascii() else 6):
            lead = len(match[0]) - len(match[0].lstrip())
            yield _Sentence(match[0][:MAX_SENTENCE], languages, line + match[0].count("\n", 0, lead))


def _check_intents(recent: Sequence[_Sentence], trace: Trace, line: int) -> None:
    """Report the first intent that the last sentence completes; it comes first, then those before it."""
    last = recent[0]
    is_usage = last.has("usage")  # a request with its credential: to review at most
    for rule, level, groups, message in _INTENTS:
        is_last = tuple(map(last.has_all, groups))
        if any(is_last) and all(
            here or (group[0][0] != "=" and any(each.has_all(group) for each in recent[: NEAR.get(rule)]))
            for here, group in zip(is_last, groups, strict=True)
        ):
            excerpt = " ".join(last.text.split())[:80]
            place = next((host for each in recent for host in each.places), "a place outside")
            trace.report(
                rule, f"'{excerpt}' {message.format(place)}", line, place, "review" if is_usage else level
            )
            return


def _check_download(sentence: _Sentence, trace: Trace, line: int) -> None:
    text, hosts = sentence.text, sentence.hosts
    if hosts and (sentence.has("fetch") or sentence.has("transfer")):
        for host in indicators.find_hosts(text):
            trace.ask("hosts", host, line)
    if hosts and sentence.has("fetch"):
        for address in re.findall(r"://[^/\s]+(/[^\s)>\"'`]+)", text):
            trace.note_download(address, indicators.describe_odd(address))
    odd = indicators.describe_odd(text) if hosts else ""
    if odd:
        level = "block" if sentence.has("run") else ""
        trace.report("A44", f"tells the reader to get something {odd}", line, hosts[0], level)
    if _PASSWORD.search(text) and sentence.has("extract") and (_PACKAGE.search(text) or hosts):
        level = "block" if hosts and _PACKAGE.search(text) else ""
        trace.report("A44", "tells the reader to unpack an archive with a password", line, level=level)


# The words of each language

_FILE = Path(__file__).with_name("lexicon.txt")
_GAP = r"[^.!?;。！？；\n]{0,40}?"
_SHORT_GAP = r"[^.!?;:,。！？；，、،\n]{0,25}?"
# Languages that are known by their letters; their words are found anywhere, since spaces do not part them.
LETTERS = {
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "fa": re.compile("[\u067e\u0686\u0698\u06af\u06cc]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "bn": re.compile("[\u0980-\u09ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
}
# Letters that say which language a text may be when it is too short for everyday words.
_ACCENTS = {
    "de": re.compile("[äöüß]", re.IGNORECASE),
    "fr": re.compile("[çèêœà]", re.IGNORECASE),
    "es": re.compile("[ñáíóú¿¡]", re.IGNORECASE),
    "it": re.compile("[àèìòù]", re.IGNORECASE),
    "pt": re.compile("[ãõçáâê]", re.IGNORECASE),
    "pl": re.compile("[ąęłńśźż]", re.IGNORECASE),
    "ru": re.compile("[а-я]", re.IGNORECASE),
    "uk": re.compile("[іїєґ]", re.IGNORECASE),
    "tr": re.compile("[ğşıİ]"),
    "sv": re.compile("[åäö]", re.IGNORECASE),
    "cs": re.compile("[ěščřžů]", re.IGNORECASE),
    "sk": re.compile("[ľščťžôä]", re.IGNORECASE),
    "hu": re.compile("[őűáé]", re.IGNORECASE),
    "ro": re.compile("[ăâîșț]", re.IGNORECASE),
    "fi": re.compile("[äö]", re.IGNORECASE),
    "da": re.compile("[æøå]", re.IGNORECASE),
    "bg": re.compile("[ъщ]", re.IGNORECASE),
    "vi": re.compile("[ơưđ\u1ea0-\u1ef9]", re.IGNORECASE),
}
_ENGLISH = frozenset(
    ["the", "and", "to", "of", "is", "for", "with", "or", "this", "that", "not", "when", "use"]
)
_SHORT = 1000  # characters of such a text
# Where a language has no row for a concept, the rows that make it up.
_COMPOSITES = {
    "quiet": "{not} … {tell}",
    "unasked": "{not} … {ask}",
    "refusal": "{not} ‥ {send}|{send} ‥ {not}",
    "kept": "{not} ‥ {disable}",
    "asked": "{not} … {without} ‥ {ask}|{not} … {ask} ‥ {without}",
    "transfer": "{send}",
    "follow": "{run}",
    "honesty": "{not} ‥ {lie}|{not} ‥ {pretext}",
    "conceal": "{it} ‥ {not} ‥ {appear}|{not} ‥ {appear} ‥ {it}|{not} ‥ {it} ‥ {appear}"
    "|{it} ‥ {not} ‥ {report}",
}


@cache
def _tables() -> dict[str, dict[str, str]]:
    """Return the rows of each language."""
    tables: dict[str, dict[str, str]] = {}
    for line in _FILE.read_text(encoding="utf-8").split("\n"):
        if line.startswith("["):
            rows = tables.setdefault(line.strip("[]"), {})
        elif tables and ": " in line:
            concept, words = line.split(": ", 1)
            rows[concept] = words
    return tables


@cache
def _markers() -> tuple[tuple[str, frozenset[str]], ...]:
    tables = _tables().items()
    return tuple((name, frozenset(rows["markers"].split())) for name, rows in tables if "markers" in rows)


def find_languages(text: str) -> tuple[str, ...]:
    """Return the languages that a text may have sentences of; English is one of each."""
    found = ["any", "en"]
    if not text.isascii():
        found += [name for name, letters in LETTERS.items() if letters.search(text)]
    spoken = set(re.findall(r"[^\W\d_]+", text.lower()))
    marked = [name for name, markers in _markers() if len(spoken & markers) >= 2]
    if not marked and len(spoken & _ENGLISH) < 3 and len(found) == 2:
        found.append(UNKNOWN)
    if not marked and len(text) < _SHORT and not text.isascii():
        marked = [name for name, letters in _ACCENTS.items() if letters.search(text)]
    return (*found, *marked)


def has_concept(text: str, languages: Iterable[str], *concepts: str) -> bool:
    """Return whether a text has one of the concepts, in any of the languages."""
    patterns = (pattern_of(language, *concepts) for language in languages)
    return any(pattern.search(text) for pattern in patterns if pattern)


@cache
def pattern_of(language: str, *concepts: str) -> re.Pattern[str] | None:
    """Return the pattern of concepts in a language; None if the language has no words for them."""
    sources = [source for concept in concepts if (source := _source(language, concept))]
    if not sources:
        return None
    start = "" if language in LETTERS or language == "any" else r"(?<!\w)"
    return re.compile(f"{start}(?:{'|'.join(sources)})", re.IGNORECASE)


def _source(language: str, concept: str) -> str:
    rows = _tables().get(language, {})
    row = rows.get(concept) or _COMPOSITES.get(concept, "")
    parts = {name: _source(language, name) for name in re.findall(r"\{([a-z]+)\}", row)}
    if not row or not all(parts.values()):
        return ""
    edge = "" if language in LETTERS or language == "any" else r"(?!\w)"
    source = "|".join(_expand(word, edge) for word in _split(row))
    for name, part in parts.items():
        source = source.replace(f"{{{name}}}", f"(?:{part})")
    return source


def _split(row: str) -> list[str]:
    """Return the words of a row: what `|` separates outside of parentheses."""
    words: list[str] = []
    depth = start = 0
    for at, letter in enumerate(row):
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and depth == 0:
            words.append(row[start:at])
            start = at + 1
    return [*words, row[start:]]


def _expand(word: str, edge: str) -> str:
    end = "" if word.endswith(("*", "}", "'")) else edge
    word = re.sub(r"(?<=[^\W_])(?<!\\[a-zA-Z])\*", r"\\w*", word)  # not of an expression's own `\w*`
    for mark, gap in ((" … ", _GAP), (" ‥ ", _SHORT_GAP)):
        word = word.replace(mark, f"{edge}{gap}(?<!\\w)" if edge else gap)
    return word.replace(" ?", r"\s*").replace(" ", r"\s+") + end
