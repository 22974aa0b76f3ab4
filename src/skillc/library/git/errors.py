"""Why there is no checkout, in words for people."""

from __future__ import annotations


class FetchError(Exception):
    """There is no checkout; the message says why."""


class Refusal(FetchError):
    """The server refused the request; another one may succeed."""


class RefNotFound(Exception):
    """The repository has no such ref."""
