"""Why there is no checkout, in words for people."""

from __future__ import annotations


class FetchFailed(Exception):
    """There is no checkout; the message says why."""


class Refused(FetchFailed):
    """The server refused the request; another one may succeed."""


class RefMissing(Exception):
    """The repository has no such ref."""
