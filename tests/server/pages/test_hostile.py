"""Pages of hostile skills: what a publisher writes is shown as text, runs nothing and asks no other host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from skillc.registry import SYSTEM, Registry, Role, make_package
from skillc.registry.model import Grant, Identity
from tests.server.pages.conftest import Visitor
from tests.support.pages import make_admin, serving

pytestmark = pytest.mark.slow

# Payloads as they are in collections for testing filters: each would call alert, or ask another host.
PAYLOADS = [
    *("<script>alert(1)</script>", "<ScRiPt src=//evil.example/x.js></sCrIpT>"),
    *("<img src=x onerror=alert(1)>", "<img src=https://evil.example/pixel.png>"),
    *('<img srcset="https://evil.example/a.png 1x" src=x>', "<svg/onload=alert(1)>"),
    *("<svg><script>alert(1)</script></svg>", "<svg><animate onbegin=alert(1) attributeName=x dur=1s>"),
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror=alert(1)&gt;'>",
    *("<iframe src=javascript:alert(1)></iframe>", "<iframe srcdoc='<script>alert(1)</script>'></iframe>"),
    *("<object data=javascript:alert(1)>", "<embed src=https://evil.example/x.swf>"),
    *("<a href=javascript:alert(1)>x</a>", "<a href='java\nscript:alert(1)'>x</a>"),
    "<a href=' &#14; javascript:alert(1)'>x</a>",
    *("<a href=data:text/html,<script>alert(1)</script>>x</a>", "<a href=vbscript:msgbox(1)>x</a>"),
    "<a href='https://evil.example' target=_blank>x</a>",
    "<form action=https://evil.example><button autofocus onfocus=alert(1)>x</button></form>",
    *("<input autofocus onfocus=alert(1)>", "<details open ontoggle=alert(1)>x</details>"),
    *("<video><source onerror=alert(1)></video>", "<audio src=x onerror=alert(1)>"),
    *("<body onload=alert(1)>", "<base href=https://evil.example/>"),
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<style>@import 'https://evil.example/x.css';</style>",
    "<p style='background:url(https://evil.example/x.png)'>x</p>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    *("<template><script>alert(1)</script></template>", "<textarea></textarea><script>alert(1)</script>"),
    *("<title></title><script>alert(1)</script>", "<!--><script>alert(1)</script>-->"),
    *("<![CDATA[<script>alert(1)</script>]]>", "<?xml version='1.0'?><script>alert(1)</script>"),
    "<plaintext><script>alert(1)</script>",
    "<div id=main data-live=results data-copy data-outline class='skip notice'>x</div>",
    *("<p id=q name=getElementById>clobber</p><a id=q href=x>y</a>", "[x](javascript:alert(1))"),
    *("[x](JaVaScRiPt:alert(1))", "[x](javascript&colon;alert(1))"),
    *("[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)", "[x](//evil.example/x)"),
    *("[x](\\\\evil.example\\x)", "![x](https://evil.example/pixel.png)", "![x](//evil.example/pixel.png)"),
    *('![x](x "onerror=alert(1)")', '![" onerror=alert(1) x="](x)'),
    *("<https://evil.example/<script>alert(1)</script>>", "<javascript:alert(1)>"),
    *("`<script>alert(1)</script>`", "```html\n<script>alert(1)</script>\n```"),
    '# <img src=x onerror=alert(1)> "><script>alert(1)</script>',
    "| <script>alert(1)</script> | <img src=x onerror=alert(1)> |\n| --- | --- |\n| {{ 7*7 }} | {% raw %} |",
    *("{{ visit.session }} {{ ''.__class__.__mro__ }}", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    *("\u202e<script>alert(1)</script>\u202c", "\x00<script>alert(1)</script>"),
    "</article></main></body><script>alert(1)</script>",
    "<x onclick=alert(1) autofocus tabindex=1 onfocus=alert(1)>x</x>",
    '<a href="x" onclick="alert(1)" onmouseover="alert(1)">x</a>',
    *("<button formaction=javascript:alert(1)>x</button>", "<isindex type=image src=1 onerror=alert(1)>"),
    *("<marquee onstart=alert(1)>x</marquee>", "<keygen autofocus onfocus=alert(1)>"),
    "<table background=https://evil.example/x.png><td background=javascript:alert(1)>x",
]
WORD = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\"'{{7*7}}"


@pytest.fixture
def hostile(local_registry: Registry) -> Registry:
    """A registry whose texts are all hostile."""
    body = "\n\n".join(f"## Case {number}\n\n{text}" for number, text in enumerate(PAYLOADS))
    description = WORD.replace('"', '\\"')
    head = f'---\nname: hostile\ndescription: "{description}"\nlicense: "<script>alert(1)</script>"\n---\n'
    files = {
        "SKILL.md": f"{head}# Hostile\n\n{body}\n".encode(),
        "references/it's & (more) 'quotes' %3Cscript%3E.md": f"# Page\n\n{body}\n".encode(),
        "scripts/run&amp;x.sh": b"# <script>alert(1)</script>\ncurl 'https://evil.example/<script>alert(1)'\n",
        "assets/picture.svg": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        "assets/page.html": b"<script>alert(1)</script>",
    }
    local_registry.publish(SYSTEM, make_package("evil/hostile", files), version="1.0.0", note=WORD)
    files["SKILL.md"] = files["SKILL.md"].replace(b"Case", b"Item") + b"\n![own](assets/picture.svg)\n"
    local_registry.publish(SYSTEM, make_package("evil/hostile", files), version="1.1.0", note=WORD)
    local_registry.yank(SYSTEM, "evil/hostile", "1.0.0", WORD)
    return local_registry


@pytest.fixture
def visitor(browser: Browser, hostile: Registry) -> Iterator[Visitor]:
    token = make_admin(hostile)
    hostile.accounts.grant(SYSTEM, Grant(WORD, Role.READER, "evil"))
    hostile.accounts.create_token(SYSTEM, Role.READER, "evil", owner=WORD, label=WORD)
    hostile.sessions.sign_in(Identity("https://evil.example", WORD, WORD, WORD, WORD, (WORD,)))
    with serving(hostile) as url:
        context = browser.new_context()
        context.set_default_timeout(8_000)
        made = Visitor(context, url)
        made.sign_in(token)
        yield made
        context.close()


PAGES = [
    *("/", "/c/evil", "/find?q=hostile+%3Cscript%3Ealert(1)%3C/script%3E", "/s/evil/hostile"),
    "/s/evil/hostile@1.0.0",
    "/s/evil/hostile@1.1.0/references/it's%20&%20(more)%20'quotes'%20%253Cscript%253E.md",
    *("/s/evil/hostile@1.1.0/scripts/run&amp;x.sh", "/s/evil/hostile@1.1.0/assets/picture.svg"),
    *("/s/evil/hostile@1.1.0/assets/page.html", "/files/evil/hostile", "/versions/evil/hostile"),
    *("/diff/evil/hostile?from=1.0.0&to=1.1.0", "/audit/evil/hostile", "/account", "/admin/grants"),
    *("/admin/grants?subject=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "/admin/people", "/admin/log"),
    "/statistics",
]


def test_nothing_runs(visitor: Visitor) -> None:
    """[SURFACES: Registry] no payload in text, names, notes or reasons runs, loads or leads anywhere."""
    page = visitor.page
    for path in PAGES:
        assert visitor.go(path) == 200, path
        for element in page.query_selector_all(
            "main [onclick], main [onfocus], main [onerror], main [style]"
        ):
            raise AssertionError((path, element.evaluate("e => e.outerHTML")))
        assert page.locator("main script, main iframe, main object, main embed, main svg script").count() == 0
        schemes = page.evaluate("[...document.links].map(a => a.protocol)")
        assert set(schemes) <= {"http:", "https:", "mailto:"}, path
        sources = page.evaluate("[...document.images].map(image => image.src)")
        assert all(source.startswith(visitor.url) for source in sources), path
        assert page.locator("#main").count() == 1
        if path.startswith("/s/evil/hostile@1.0.0"):
            assert "<!--><script>alert(1)</script>-->" in page.inner_text("article")  # agents read it
            assert page.inner_text("article").count("Case ") == len(PAYLOADS)
        assert "49" not in page.title()
    assert visitor.faults == []


def test_links_of_others(visitor: Visitor) -> None:
    """[SURFACES: Registry] links out of a skill's text say nofollow and noopener."""
    visitor.go("/s/evil/hostile")
    links = visitor.page.evaluate("[...document.querySelectorAll('article a')].map(a => [a.origin, a.rel])")
    rels = [rel for origin, rel in links if origin != visitor.url]
    assert rels
    assert all({"nofollow", "noopener"} <= {*rel.split()} for rel in rels)


def test_live_results(visitor: Visitor) -> None:
    """[SURFACES: Registry] results that a script puts into the page run nothing either."""
    visitor.go("/")
    visitor.page.fill("#q", "hostile <img src=x onerror=alert(1)>")
    visitor.page.wait_for_selector("#results a")
    visitor.page.fill("#q", "<b>zzzzqqqq</b>")
    visitor.page.wait_for_selector("text=No skill fits “<b>zzzzqqqq</b>”")
    assert visitor.faults == []


def test_raw_files(visitor: Visitor) -> None:
    """[SURFACES: Registry] a browser saves files of a skill, and shows none as a page of this site."""
    for path in ("assets/page.html", "assets/picture.svg"):
        response = visitor.context.request.get(f"{visitor.url}/raw/evil/hostile@1.1.0/{path}")
        assert response.headers["content-disposition"].startswith("attachment")
        assert "sandbox" in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "html" not in response.headers["content-type"]
