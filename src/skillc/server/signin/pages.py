"""Say which pages sign-in shows: others make them."""

from __future__ import annotations

from typing import Protocol

from starlette.responses import RedirectResponse, Response

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",  # the address of a callback has a code, which is for us alone
    "X-Content-Type-Options": "nosniff",
}


class Pages(Protocol):
    """The pages of sign-in."""

    def show_form(self, target: str, problem: str = "", status: int = 200) -> Response:
        """Show the form for a token; `target` is where to go afterwards."""
        ...

    def show_question(self, form_token: str) -> Response:
        """Ask whether to sign out."""
        ...

    def show_problem(self, message: str, status: int) -> Response: ...


def redirect(url: str) -> Response:
    return RedirectResponse(url, 303, HEADERS)
