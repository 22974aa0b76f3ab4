"""The variables and files that an agent signs in with: it gets no others, and results have none of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain

from skillc.evals.agents import Runner

MIN_SECRET = 8  # characters; shorter values would blot out ordinary words
BLOT = "[secret]"
_NAME = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|HEADER", re.IGNORECASE)
_PIECE = re.compile(r"(?:\\[nrt]|[\s\"'\\,;:={}\[\]])+")  # between the words of JSON, TOML and headers
_USER = re.compile(r"(?<=://)[^/@\s]+(?=@)")


def credentials_of(runner: Runner, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that an agent signs in with, and no others: it does what a skill tells it."""
    clouds = (starts for switch, starts in runner.clouds.items() if environ.get(switch))
    starts = (*runner.keys, *chain.from_iterable(clouds))
    return {name: value for name, value in environ.items() if name.startswith(starts)}


def is_secret(name: str) -> bool:
    """Return whether a variable of this name holds a secret."""
    return _NAME.search(name) is not None


def find_secrets(variables: Mapping[str, str], files: Iterable[str]) -> tuple[str, ...]:
    """Return what must not be kept: values and their pieces, the longest first, which may hold others."""
    texts = [value for name, value in variables.items() if is_secret(name)]
    secrets = {*texts, *chain.from_iterable(map(_USER.findall, variables.values()))}
    for file in files:
        with open(file, encoding="utf-8", errors="replace") as stream:
            texts.append(stream.read())
    secrets.update(chain.from_iterable(map(_PIECE.split, texts)))
    return tuple(sorted((each for each in secrets if len(each) >= MIN_SECRET), key=len, reverse=True))


def blot(value: str, secrets: Iterable[str]) -> str:
    """Return a text without secrets."""
    for secret in secrets:
        value = value.replace(secret, BLOT)
    return value
