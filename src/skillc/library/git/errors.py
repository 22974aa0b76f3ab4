"""What can go wrong with a remote, in words for people."""

from __future__ import annotations

NOTHING_THERE = "there is no git repository, or none without authentication"


class FetchFailed(Exception):
    """Why there is no checkout, in words for people."""


class RefMissing(Exception):
    """The repository has no such ref."""


class Refused(FetchFailed):
    """The server would not do what was asked; it may do something else."""


def fault_of(status: int, content_type: str) -> str:
    """What is wrong with an HTTP response, if something is."""
    if status in (401, 403):
        return f"authentication failed (HTTP {status})"
    if status == 404:
        return NOTHING_THERE
    if status != 200:
        return f"the server answered HTTP {status}"
    if not content_type.startswith("application/x-git-"):
        return "the server does not speak git's smart HTTP protocol"
    return ""


def reason_for(error: BaseException) -> str:
    """A failure in words for people: those of what caused it."""
    from dulwich.errors import HangupException, NotGitRepository  # an extra, which is there by now

    if isinstance(error, NotGitRepository):
        return NOTHING_THERE
    while not isinstance(error, HangupException):  # which has what ssh said
        cause = getattr(error, "reason", None) or error.__cause__
        if not isinstance(cause, BaseException):
            break
        error = cause
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    text = text.strip()
    return f"authentication failed: {text}" if "Permission denied (" in text else text
