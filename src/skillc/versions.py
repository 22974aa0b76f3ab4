"""Read and compare the numbers of published versions: Semantic Versioning 2.0.0, and tags that name one.

>>> parse_version("v1.2"), next_patch(["1.2.0", "1.10.3"])
('1.2.0', '1.10.4')
>>> max("1.0.0-rc.1", "1.0.0", "1.0.0-rc.10", key=precedence)
'1.0.0'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from skillc.errors import InvalidParameter, VersionTooLarge
from skillc.spelling import did_you_mean, make_question

LATEST = "latest"  # the tag of the version that an installation chooses
FIRST_VERSION = "0.1.0"
MAX_VERSION = 64  # characters
MAX_RANGE = 200  # characters of a range; none is longer that a person wrote
MAX_DIGITS = 9  # of each number, so that every program can hold it as an integer

_VERSION = re.compile(
    r"v?(0|[1-9]\d*)(?:\.(0|[1-9]\d*)(?:\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*))*))?)?)?",
    re.IGNORECASE | re.ASCII,
)
_TAG = re.compile(r"[a-z][a-z0-9._-]{0,63}")  # no digit first: a tag never looks like a version


def parse_version(text: str) -> str:
    """Return a semantic version in full; raises InvalidParameter for text that is none.

    `v1` and `1.2` are completed. A number of more than nine digits is VersionTooLarge. Build metadata is
    refused: versions that differ in it alone have no order.
    """
    match = _VERSION.fullmatch(text) if len(text) <= MAX_VERSION else None
    if match is None:
        excerpt = text if len(text) <= MAX_VERSION else f"{text[:MAX_VERSION]}…"
        reason = f"'{excerpt}' is not a semantic version such as 1.2.0 or 1.2.0-rc.1, without build metadata"
        raise InvalidParameter("version", reason)
    major, minor, patch, label = match.groups()
    if max(map(len, (major, minor or "", patch or ""))) > MAX_DIGITS:
        raise VersionTooLarge(text)
    return f"{major}.{minor or 0}.{patch or 0}{f'-{label}' if label else ''}"


def precedence(version: str) -> tuple[Any, ...]:
    """Return the key that sorts versions as Semantic Versioning 2.0.0 does."""
    numbers, _, label = version.partition("-")
    parts = [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in label.split(".")] if label else []
    return (*map(int, numbers.split(".")), not label, parts)


def is_release(version: str) -> bool:
    return "-" not in version


def next_patch(versions: Iterable[str]) -> str:
    """Return the version after the highest of these: of a pre-release, its release.

    Raises VersionTooLarge where that has too many digits.
    """
    highest = max(versions, key=precedence, default="")
    if not highest:
        return FIRST_VERSION
    numbers, _, label = highest.partition("-")
    major, minor, patch = numbers.split(".")
    return parse_version(f"{major}.{minor}.{patch if label else int(patch) + 1}")


def suggest_version(reference: str, versions: Iterable[str], tags: Iterable[str]) -> str:
    """Return which version or tag may be meant by one that there is not, or else which there is.

    `versions` are in order of preference: of two that are as near, the first is named.

    >>> suggest_version("1.2.4", ["2.0.0", "1.2.3", "1.2.2", "1.0.0"], ["latest"])
    "did you mean '1.2.3' or '1.2.2'?"
    >>> suggest_version("lates", ["2.0.0"], ["latest"]), suggest_version("3", ["2.0.0", "1.0.0"], [])
    ("did you mean 'latest'?", 'there are 2.0.0 and 1.0.0')
    """
    there = list(versions)
    question = did_you_mean(reference, tags) or make_question(_nearest(reference, there))
    if question or not there:
        return question or "it has no versions"
    listing = " and ".join([", ".join(there[:2]), f"{len(there) - 2} more"] if there[2:] else there)
    return f"there {'is' if len(there) == 1 else 'are'} {listing}"


def _nearest(reference: str, versions: list[str]) -> list[str]:
    """Return the two versions that share the most leading numbers, at least the first."""
    numbers = reference.removeprefix("v").split(".")

    def agreement(version: str) -> int:
        pairs = zip(numbers, version.split("."), strict=False)
        return next((n for n, (one, other) in enumerate(pairs) if one != other), len(numbers))

    return [each for each in sorted(versions, key=agreement, reverse=True) if agreement(each)][:2]


def parse_tag(text: str) -> str:
    if _TAG.fullmatch(text) is None:
        reason = "a tag is a lower-case letter and then up to 63 letters, digits, '.', '_' or '-'"
        raise InvalidParameter("tag", reason)
    return text


def in_range(version: str, text: str) -> bool:
    """Return whether a version is in a range as npm writes them; one that can't be read has no version.

    >>> [in_range("1.4.2", text) for text in ("^1.2", "~1.4.0", "1.4", ">=1.2 <1.4", "2 || 1.4.2", "*")]
    [True, True, True, False, True, True]
    >>> in_range("2.0.0-rc.1", "^1.2"), in_range("1.0.0", "latest")
    (False, False)
    """
    if len(text) > MAX_RANGE:
        return False
    try:
        number = precedence(parse_version(version))
    except InvalidParameter:
        return False
    for part in text.split("||"):
        words = re.sub(r"([<>=~^]+)\s+", r"\1", part.replace(",", " ")).split()
        bounds = [_bounds(word) for word in words]
        if None not in bounds and all(low <= number < high for low, high in filter(None, bounds)):
            return True
    return False


_TOP = precedence("999999999.999999999.999999999")
_BOTTOM = precedence("0.0.0-0")


def _bounds(word: str) -> tuple[Any, Any] | None:
    """Return the versions that one part of a range is between; None for one that can't be read."""
    match = re.fullmatch(r"(\^|~|>=|<=|>|<|=)?v?(\d+|[x*])((?:\.(?:\d+|[x*]))*)(-[0-9a-z.-]+)?", word, re.I)
    if match is None:
        return None
    sign, first, others, label = match.groups()
    numbers = [int(each) for each in [first, *others.split(".")[1:]] if each.isdecimal()][:3]
    if not numbers:
        return _BOTTOM, _TOP
    low = precedence(".".join(map(str, [*numbers, 0, 0][:3])) + (label or ""))
    next_patch = precedence(".".join(map(str, _raise(numbers, len(numbers) - 1))) + "-0")
    if sign in (">=", ">"):
        return (low if sign == ">=" else next_patch), _TOP
    if sign in ("<=", "<"):
        return _BOTTOM, (low if sign == "<" else next_patch)
    place = len(numbers) - 1
    if sign == "^":  # the first number that is not zero stays
        place = next((index for index, number in enumerate(numbers) if number), place)
    elif sign == "~":
        place = min(place, 1)
    return low, precedence(".".join(map(str, _raise(numbers, place))) + "-0")


def _raise(numbers: list[int], place: int) -> list[int]:
    """Return the version after all that share the numbers up to a place."""
    return [*numbers[:place], numbers[place] + 1, 0, 0][:3]
