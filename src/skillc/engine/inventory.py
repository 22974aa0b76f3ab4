"""Skills as text for a prompt: the inventory, and the block that injects one.

A model reads the tags, not an XML parser. What matters is that nothing inside can close them early,
that the text is the same from call to call, and that its size has a limit [D26, D30, D30a].
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence

from skillc.library.sources import SkillCollection, SkillDescriptor, SkillDocument
from skillc.text import cut

MAX_INJECTION_BYTES = 32 * 1024
INVENTORY_THRESHOLD = 12  # skills up to which each is listed
FLAT_BUDGET = 16_000  # characters of a flat inventory of more skills than that, unless another is set
MAX_DESCRIPTION = 1024  # characters of one in an inventory; the format allows no more
MIN_DESCRIPTION = 40  # characters; skills are left out before descriptions get shorter
MIN_ENTRY = 58  # characters of a skill in an inventory, without its description
MARKER = "\n[truncated]"
ESCAPED = "<\\/skill>"
CUT_NOTE = "  Descriptions are shortened; the browse_skills tool shows them whole.\n"
FIT_NOTE = (
    "  Descriptions are shortened; the browse_skills tool shows them whole, find_skills names the skills for"
    " a task.\n"
)
MORE_SKILLS = "  {} more skills are not listed; the find_skills tool (over MCP: skc_find) searches them.\n"
MORE_ENTRIES = (
    "{} more: call again with next_cursor as cursor, or search all skills for a task with find_skills (over"
    " MCP: skc_find; in a shell: skc find)"
)
HINT = (
    "\n  Use the browse_skills tool to list skills in a collection or search.\n"
    "  Use the load_skill tool or /collection/skill-name to activate a skill.\n"
)

# What a model may take for `</skill>`: with attributes, spaces or unseen characters in it, or not ended.
_UNSEEN = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_WORD = f"[{_UNSEEN}]*".join("skill")
_CLOSING = re.compile(rf"<[\s{_UNSEEN}]*/[\s{_UNSEEN}]*{_WORD}(?![\w-])(\s*>)?", re.IGNORECASE)
_ESCAPE = re.compile(rb"<\\/skill>?")


def escape(text: str) -> str:
    """Escape text so that it opens and closes no tag; xml.sax.saxutils would load an HTTP client."""
    return text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")


def quoteattr(text: str) -> str:
    """Return an attribute's value with its quotes, on one line."""
    text = escape(text).replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;")
    if '"' not in text:
        return f'"{text}"'
    return f"'{text}'" if "'" not in text else f'"{text.replace(chr(34), "&quot;")}"'


def render_skill(document: SkillDocument, max_bytes: int = MAX_INJECTION_BYTES) -> str:
    """Return the `<skill>` block of a skill: its body escaped, then cut.

    >>> from skillc.skills import SkillId
    >>> doc = SkillDocument(SkillDescriptor(SkillId("a/b")), "Say </Skill > hello </skill x>")
    >>> print(render_skill(doc))
    <skill id="a/b">
    Say <\\/skill> hello <\\/skill x>
    </skill>
    """
    body = _CLOSING.sub(lambda match: ESCAPED if match[1] else ESCAPED[:-1], document.body).strip("\n")
    return f"<skill id={quoteattr(document.descriptor.id)}>\n{_cut(body, max_bytes)}\n</skill>"


def _cut(body: str, max_bytes: int) -> str:
    """Cut a body to `max_bytes` with the marker, never in the middle of a character or an escape."""
    data = body.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return data.decode()
    room = max(0, max_bytes - len(MARKER))
    reach = len(ESCAPED) - 1  # an escape that spans the cut lies within this distance of it
    for escape in _ESCAPE.finditer(data, max(0, room - reach), room + reach):
        if escape.start() < room < escape.end():
            room = escape.start()
            break
    # A limit that the marker alone exceeds cuts the marker.
    return data[:room].decode("utf-8", "ignore") + MARKER[:max_bytes]


def flat_inventory(
    skills: Sequence[SkillDescriptor], active: Collection[str] = (), budget: int | None = None
) -> str:
    """List skills with their descriptions.

    To keep within `budget` characters, shorten all descriptions, and then leave out skills, but none that
    is active.
    """
    active = frozenset(active)

    def render(length: int, note: str, count: int = len(skills)) -> str:
        lines = ["<available_skills>\n"]
        for skill in (*skills[:count], *(skill for skill in skills[count:] if skill.id in active)):
            tag = f"skill id={quoteattr(skill.id)}" + (' active="true"' if skill.id in active else "")
            text = escape(cut(skill.description, length))
            lines.append(f"  <{tag}>\n    <description>{text}</description>\n  </skill>\n")
        if any(len(skill.description) > length for skill in skills[:count]):
            lines.append(note)
        more = sum(skill.id not in active for skill in skills[count:])
        lines += [MORE_SKILLS.format(more)] if more else []
        return "".join(lines) + "</available_skills>"

    limit = len(skills) if budget is None else budget // MIN_ENTRY + 1
    if len(skills) <= limit:
        text = _fit(render, [skill.description for skill in skills], budget, MIN_DESCRIPTION)
        if budget is None or len(text) <= budget:
            return text
    counts = range(min(limit, len(skills)))
    number = bisect_right(counts, budget or 0, key=lambda n: len(render(MIN_DESCRIPTION, FIT_NOTE, n)))
    return render(MIN_DESCRIPTION, FIT_NOTE, max(0, number - 1))


def collections_inventory(
    collections: Sequence[SkillCollection],
    at_root: int,
    active: Sequence[SkillDescriptor] = (),
    budget: int | None = None,
) -> str:
    """List the top-level collections, the number of skills without one, and the loaded skills."""
    top = [collection for collection in collections if "/" not in collection.path]
    if at_root:
        top.append(SkillCollection("", f"{at_root} skills", at_root))

    def render(length: int, note: str) -> str:
        lines = ['<available_skills mode="collections">\n']
        for collection in top:
            path, words = quoteattr(collection.path), escape(cut(collection.description, length))
            lines.append(f'  <collection path={path} count="{collection.count}">{words}</collection>\n')
        lines += [f'  <skill id={quoteattr(skill.id)} active="true"/>\n' for skill in active]
        if any(len(collection.description) > length for collection in top):
            lines.append(note)
        return "".join(lines) + HINT + "</available_skills>"

    return _fit(render, [collection.description for collection in top], budget)


def _fit(
    render: Callable[[int, str], str], descriptions: Sequence[str], budget: int | None, least: int = 0
) -> str:
    """Render with the longest descriptions that fit, one limit for all and not under `least`."""
    longest = min(MAX_DESCRIPTION, max(map(len, descriptions), default=0))
    text = render(longest, CUT_NOTE)
    if budget is None or len(text) <= budget:
        return text
    low, high = min(least, longest), longest
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(render(middle, FIT_NOTE)) <= budget else (low, middle - 1)
    return render(low, FIT_NOTE)
