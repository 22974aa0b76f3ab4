"""Markdown of skills as HTML: what is kept, what is shown as text, where links lead, and how it is split."""

from __future__ import annotations

import re

import pytest

from skillc.server.pages.markdown import MAX_HTML, Entry, Links, Text, render_markdown, slugify
from tests.support.cases import each

FILES = {"SKILL.md", "references/forms.md", "assets/a.png"}


BLOCKS = re.compile(r"(?<=>) (</?(?:li|ol|p|ul|tbody|table|td|tr|div|blockquote)\b)")
TABLE = (
    '<div class="wide" tabindex="0"><table><thead><tr><th scope="col" align="center">a</th>'
    '<th scope="col">b</th></tr></thead><tbody><tr><td align="center">1</td><td><i>2</i></td></tr></tbody>'
    "</table></div>"
)


def render(text: str, part: int = 1, path: str = "SKILL.md") -> Text:
    def make_links(entries: list[Entry]) -> Links:
        return Links(
            path,
            lambda name: f"/file/{name}" if name in FILES else None,
            lambda name: f"/raw/{name}" if name in FILES and name.endswith("png") else None,
            lambda name: f"#s-{slugify(name)}",
        )

    return render_markdown(text.encode("utf-8", "surrogatepass"), 0, part, make_links)


def html(text: str, path: str = "SKILL.md") -> str:
    """The HTML of a document, without the space before the tags of blocks, which shows nothing."""
    return BLOCKS.sub(r"\1", " ".join(render(text, path=path).html.split()))


@each(
    ("text", "expected"),
    [
        ("# A *b* `c`", '<h2 id="s-a-b-c">A <em>b</em> <code>c</code></h2>'),
        ("###### x", '<h6 id="s-x">x</h6>'),
        ("a\\\nb", "<p>a<br> b</p>"),
        ("~~a~~ **b**", "<p><del>a</del> <strong>b</strong></p>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("- [x] a", '<ul><li><span class="task">☑</span> a</li></ul>'),
        ("```py\na<b\n```", '<pre tabindex="0"><code>a&lt;b </code></pre>'),
        ("> [!WARNING]\n> a", "<blockquote><p><strong>Warning</strong></p><p>a</p></blockquote>"),
        ("---", "<hr>"),
        ("<kbd>a</kbd>", "<p><kbd>a</kbd></p>"),
        ("a <!-- b -->", "<p>a <code>&lt;!-- b --&gt;</code></p>"),
        ("<!-- b -->", '<pre tabindex="0"><code>&lt;!-- b --&gt;</code></pre>'),
        ("<script>a</script>", '<pre tabindex="0"><code>&lt;script&gt;a&lt;/script&gt;</code></pre>'),
        ("a <blink>b</blink>", "<p>a <code>&lt;blink&gt;</code>b<code>&lt;/blink&gt;</code></p>"),
        ('<p id="main" class="x" onclick="y">a</p>', "<p>a</p>"),
        ("![a *b*](assets/a.png)", '<p><img src="/raw/assets/a.png" alt="a b"></p>'),
        ("![<b>](assets/a.png) <b>c</b>", '<p><img src="/raw/assets/a.png" alt="&lt;b&gt;"> <b>c</b></p>'),
        ("|a|b|\n|:-:|-|\n|1|<i>2</i>|", TABLE),
        ("![a > b](https://x.y/z.png)", "<p><em>[image: a &gt; b]</em></p>"),
        ('<img src="assets/a.png">', '<img alt="" src="/raw/assets/a.png">'),
    ],
)
def test_elements(text: str, expected: str) -> None:
    """[SURFACES: Registry] Markdown is rendered; HTML that does more than show text is shown as text."""
    assert html(text) == expected


@each(
    ("target", "path", "address"),
    [
        ("references/forms.md", "SKILL.md", "/file/references/forms.md"),
        ("./references/forms.md#Fill in", "SKILL.md", "/file/references/forms.md#s-fill-in"),
        ("forms.md", "references/x.md", "/file/references/forms.md"),
        ("../SKILL.md#a", "references/x.md", "/file/SKILL.md#s-a"),
        ("../../etc/passwd", "SKILL.md", None),
        ("/etc/passwd", "SKILL.md", None),
        ("nothing.md", "SKILL.md", None),
        ("#Some part", "SKILL.md", "#s-some-part"),
        ("https://a.b/c?d=e", "SKILL.md", "https://a.b/c?d=e"),
        ("mailto:a@b.c", "SKILL.md", "mailto:a@b.c"),
        ("javascript:alert(1)", "SKILL.md", None),
        ("JAVASCRIPT:alert(1)", "SKILL.md", None),
        ("data:text/html,x", "SKILL.md", None),
        ("file:///etc/passwd", "SKILL.md", None),
        ("//evil.example/x", "SKILL.md", None),
        ("http://[x", "SKILL.md", None),
    ],
)
def test_links(target: str, path: str, address: str | None) -> None:
    """[SURFACES: Registry] links lead to files of the skill, to its sections, or to the web."""
    match = re.search(r'href="([^"]*)"', html(f"[x](<{target}>)", path))
    assert (match[1] if match else None) == address


def test_equal_headings() -> None:
    """[SURFACES: Registry] each heading has an anchor of its own, and the outline names it."""
    text = render("# A\n\n## A\n\n## 漢字\n\n## !\n\nSetext\n---\n")
    assert [entry.anchor for entry in text.outline] == ["s-a", "s-a-1", "s-漢字", "s-section", "s-setext"]
    assert all(f'id="{entry.anchor}"' in text.html for entry in text.outline)


def test_long_documents() -> None:
    """[SURFACES: Registry] a long document has parts that end at headings and lose nothing."""
    document = "".join(f"## Part {number}\n\n{'word ' * 800}\n\n" for number in range(60))
    first = render(document)
    assert first.parts > 4
    parts = [render(document, number) for number in range(1, first.parts + 1)]
    found = [heading for part in parts for heading in re.findall(r">(Part \d+)<", part.html)]
    assert found == [f"Part {number}" for number in range(60)]
    assert all(entry.anchor in parts[entry.part - 1].html for entry in first.outline)
    assert sum(part.html.count("word") for part in parts) == 60 * 800
    assert render(document, 999).part == first.parts


GROWING = [
    "<" * 300_000,
    "> " * 150_000,
    "- - - - - - - - - - x\n\n" * 20_000,
    "&" * 300_000,
    "[a](" * 40_000,
]
GROWING += ["|a" * 50_000 + "\n" + "|-" * 50_000, "# a\n" * 20_000, "<details>" * 30_000, "", "\0\udcff"]


@pytest.mark.slow
@each("text", GROWING)
def test_bounds(text: str) -> None:
    """[SURFACES: Registry] no document makes a large page."""
    result = render(text)
    assert len(result.html) <= MAX_HTML
    assert len(result.outline) <= 200
