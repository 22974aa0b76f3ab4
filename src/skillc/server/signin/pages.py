"""Make the few pages of sign-in, without styles and scripts: they work where nothing else does."""

from __future__ import annotations

from html import escape

from starlette.responses import HTMLResponse, RedirectResponse, Response

POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",  # the address of a callback has a code
    "X-Content-Type-Options": "nosniff",
}
_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title></head>
<body><main><h1>{title}</h1>
{content}
</main></body>
</html>
"""


def show_form(target: str, problem: str = "", status: int = 200) -> Response:
    """Show the form for a token; `target` is where to go afterwards."""
    content = f"""{f'<p role="alert">{escape(problem)}</p>' if problem else ""}
<form method="post" action="/login">
<input type="hidden" name="next" value="{escape(target)}">
<p><label>Token <input name="token" type="password" autocomplete="off" required></label>
<button>Sign in</button></p>
</form>"""
    return _page("Sign in", content, status)


def show_question(form_token: str) -> Response:
    """Ask whether to sign out."""
    content = f"""<form method="post" action="/logout">
<input type="hidden" name="form_token" value="{escape(form_token)}">
<p><button>Sign out</button></p>
</form>"""
    return _page("Sign out", content, 200)


def show_problem(message: str, status: int, target: str = "/") -> Response:
    content = f"""<p role="alert">{escape(message)}</p>
<p><a href="/login">Try again</a> or go to <a href="{escape(target)}">the start page</a>.</p>"""
    return _page("Sign-in failed", content, status)


def redirect(url: str) -> Response:
    return RedirectResponse(url, 303, HEADERS)


def _page(title: str, content: str, status: int) -> Response:
    return HTMLResponse(_PAGE.format(title=title, content=content), status, HEADERS)
