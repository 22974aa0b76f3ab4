"""Render a page of one file, for a browser: in the design of all our pages, without scripts and requests."""

from __future__ import annotations

import os
from typing import Any

from skillc.palette import write_palette
from skillc.text import cut

MAX_TEXT = 240  # characters of a text from outside
# Control characters, and those that change the direction of text.
_CONTROLS = dict.fromkeys(
    [*range(0x20), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], " "
)


def render_page(template: str, *, maker: str, **values: Any) -> str:
    """Return the page of a template that extends `offline_page.html`; `maker` says by what it was made."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import, and for pages alone
    from markupsafe import Markup

    folder, name = os.path.split(template)
    environment = Environment(
        loader=FileSystemLoader([folder, os.path.dirname(__file__)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"shown": show_text, "number": "{:,}".format}
    palette = Markup(write_palette())  # noqa: S704
    return environment.get_template(name).render(palette=palette, maker=maker, **values)


def show_text(text: str) -> str:
    """Return text from outside for a page: at most MAX_TEXT characters, without control characters."""
    return cut(text, MAX_TEXT).translate(_CONTROLS)
