"""`skc search`: sections that hold some words."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from skillc.compiler.build import build_skill
from skillc.errors import EmptyQuery, InvalidOption
from skillc.gateway import SearchResults, search_sections
from skillc.gateway.search import MAX_TERMS, quote, split_query
from skillc.index.sections import reader
from skillc.library import Skill
from skillc.paths import index_file
from tests.conftest import World
from tests.gateway.conftest import Run, code, made
from tests.support.cases import each
from tests.support.deadline import ends
from tests.support.examples import examples, sample

MODES = ("all", "any", "phrase", "raw")

SQL = """
SELECT file, section, snippet(sections, 2, '[MATCH]', '[/MATCH]', '...', 32), -bm25(sections)
FROM sections WHERE sections MATCH ? ORDER BY rank LIMIT ?
"""


def database(skill: Skill) -> str:
    return index_file(skill.runtime(), skill.source)


def places(found: SearchResults) -> list[tuple[str, str]]:
    return [(result.file, result.section) for result in found.results]


@pytest.fixture
def library(world: World) -> Skill:
    """A skill with a few things to find."""
    files = {
        "auth.md": "# Authentication\n\nHow to configure tokens.\n\n## Rotation\n\nRotate tokens daily.\n",
        "net.md": "# Network\n\nConfigure the proxy. Tokens are not needed here; configuring is easy.\n",
        "notes.txt": "Plain notes about the authentication of proxies.\n",
        "long.md": "# Long\n\n" + "filler " * 100 + "needle " + "filler " * 100 + "\n",
    }
    return made(world, "lib", files)


# What it returns


def test_json(run: Run, library: Skill) -> None:
    """[RFC-0004:C-SEARCH] query, file, section, snippet and score; where no section holds all words, stderr
    names those that occur.
    """
    found = json.loads(run("search", "lib", "  Rotate  daily ", "--format", "json").out)
    assert found["query"] == "  Rotate  daily "
    assert [(r["file"], r["section"]) for r in found["results"]] == [
        ("auth.md", "Rotation"),
        ("auth.md", "Authentication"),
    ]
    for result in found["results"]:
        assert list(result) == ["file", "section", "snippet", "score"]
        assert "[MATCH]Rotate[/MATCH] tokens [MATCH]daily[/MATCH]" in result["snippet"]
        assert isinstance(result["score"], float)
    ran = run("search", "lib", "daily zebra proxies tokens", "--format", "json")
    assert (ran.status, json.loads(ran.out)) == (0, {"query": "daily zebra proxies tokens", "results": []})
    assert ran.err == (
        "note: no section holds all words; these occur: daily (2), proxies (2), tokens (3);"
        " --any ranks by them\n"
    )
    for query in ("zebra giraffe", "zebra"):
        ran = run("search", "lib", query)
        assert (ran.status, ran.out, ran.err) == (0, "No results.\n", "")


def check_like_fts5(skill: Skill, query: str, limit: int = 10) -> None:
    """Find what FTS5 finds, ranks and cuts, with BM25 negated."""
    expression = " ".join(map(quote, query.split()))
    with closing(sqlite3.connect(database(skill))) as connection:
        rows = connection.execute(SQL, (expression, limit)).fetchall()
    found = search_sections(skill, query, limit=limit).results
    assert [(r.file, r.section, r.snippet, r.score) for r in found] == rows, (query, limit)
    assert all(result.score > 0 for result in found)


def test_text_form(run: Run, library: Skill, world: World) -> None:
    """[RFC-0004:C-SEARCH] file#section and score, then the snippet on a line of its own; whatever a
    heading holds, it sends nothing to the terminal.
    """
    [head, snippet] = run("search", "lib", "daily", "--limit", "1").out.splitlines()
    assert head.startswith("auth.md#Rotation (score: ")
    assert snippet == "  ## Rotation Rotate tokens [MATCH]daily[/MATCH]."
    made(world, "pdf", {"a.md": "# needle&#10;x &#27;[31m\n\ntext\x1b[31m\n"})
    out = run("search", "pdf", "needle").out
    assert "\x1b" not in out
    assert len(out.splitlines()) == 2


# What a query means


def test_words(library: Skill) -> None:
    """[RFC-0004:C-QUERY-SYNTAX] all words or other forms of them, in any order, anywhere in the section;
    nothing is syntax.
    """
    assert places(search_sections(library, "tokens configure")) == places(
        search_sections(library, "configure tokens")
    )
    assert ("net.md", "Network") in places(search_sections(library, "tokens configure"))
    assert places(search_sections(library, "daily tokens rotate"))[0] == ("auth.md", "Rotation")
    assert search_sections(library, "tokens zebra").results == []
    assert places(search_sections(library, "configuring")) == places(search_sections(library, "configure"))
    assert ("auth.md", "Authentication") in places(search_sections(library, "configuring"))
    assert search_sections(library, "tokens NOT daily").results == []
    assert search_sections(library, "tokens OR zebra").results == []
    assert search_sections(library, "toke*").results == []
    assert places(search_sections(library, "(rotate), daily!")) == places(
        search_sections(library, "rotate daily")
    )


def test_folding_and_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0004:C-QUERY-SYNTAX] [RFC-0004:C-SEARCH] [RFC-0004:C-INDEX] accents and case do not count; 10
    results; without a stemmer words are as they are.
    """
    skill = made(world, "pdf", {"a.md": "# One\n\nÜber Café ΛΌΓΟΣ\n"})
    for query in ("uber", "CAFE", "über café", "λόγος"):
        assert places(search_sections(skill, query)) == [("a.md", "One")], query
    skill = made(world, "many", {f"f{n:02}.md": f"# Same {n}\n" for n in range(30)})
    assert len(search_sections(skill, "same").results) == 10
    for limit in (1, 30, 100):
        assert len(search_sections(skill, "same", limit=limit).results) == min(limit, 30)
    monkeypatch.setattr(reader, "has_porter", lambda: False)
    skill = made(world, "plain", {"a.md": "# One\n\nconfigure it\n"})
    with reader.open_index(skill, "ascii") as index:
        assert index.meta["tokenizer"] == "unicode61"
    assert search_sections(skill, "configuring").results == []
    assert places(search_sections(skill, "Configure")) == [("a.md", "One")]


@pytest.mark.slow
@given(st.text(st.sampled_from('a"é日 \t\n\r\x0b\x0c\x1c\x85\xa0\u2028\u3000\0\ud800')) | st.text())
def test_any_tokens(query: str) -> None:
    """[RFC-0004:C-QUERY-SYNTAX] no other character parts words, and the rest of them stays as it is."""
    shown = query.encode("utf-8", "backslashreplace").decode()
    assert split_query(query) == [word.decode() for word in re.split(rb"[ \t\n\r]+", shown.encode()) if word]


@each("mode", ["all", "any", "phrase"])
def test_nothing_to_find(library: Skill, mode: str) -> None:
    """[D22] a query without anything that can be indexed finds nothing; among words it is passed over."""
    for query in ("---", "!!!", "\u2014", "\u3000", "\x0b", "* ^ :", '"', '""', "\0", "\ud800"):
        assert search_sections(library, query, mode=mode).results == []
    daily = places(search_sections(library, "daily"))
    assert places(search_sections(library, "--- daily ---", mode=mode)) == daily


@each("query", ["", " ", "\t", "\n", "\r", " \t\r\n "])
def test_empty(run: Run, library: Skill, query: str) -> None:
    """[RFC-0004:C-QUERY-SYNTAX] [RFC-0004:C-ERRORS] empty, or only ASCII white space: E004."""
    for mode in ([], ["--any"], ["--phrase"], ["--raw"]):
        ran = run("search", "lib", query, *mode)
        assert (code(ran), ran.err) == ("E004", "error[E004]: empty query\n")


# Beyond the RFC


def test_phrase_and_any(library: Skill, run: Run) -> None:
    """[RFC-0004:C-QUERY-SYNTAX] [RFC-0004:C-SEARCH] --phrase: one after the other; --any: sections with more
    and rarer words first.
    """
    assert places(search_sections(library, "rotate tokens", mode="phrase"))[0] == ("auth.md", "Rotation")
    assert search_sections(library, "daily tokens", mode="phrase").results == []
    assert "Rotation" in run("search", "lib", " rotate \n tokens ", "--phrase").out
    found = search_sections(library, "daily zebra tokens", mode="any")
    assert set(places(found)) == {
        ("auth.md", "Authentication"),
        ("auth.md", "Rotation"),
        ("net.md", "Network"),
    }
    assert places(found)[0] == ("auth.md", "Rotation")
    assert places(found)[-1] == ("net.md", "Network")
    assert "auth.md#Rotation" in run("search", "lib", "daily zebra", "--any").out


def test_raw(library: Skill, run: Run) -> None:
    """[RFC-0004:C-QUERY-SYNTAX] [RFC-0004:C-ERRORS] --raw: FTS5's own language; what is none of it, a second
    mode or argument is E100.
    """
    assert places(search_sections(library, "rotat* NOT zebra", mode="raw"))[0] == ("auth.md", "Rotation")
    assert places(search_sections(library, "section: rotation", mode="raw")) == [("auth.md", "Rotation")]
    assert len(search_sections(library, "daily OR needle", mode="raw").results) == 3
    assert search_sections(library, "NEAR(rotate daily, 1)", mode="raw").results
    for bad in ('"', "(", "AND", "nowhere: x", "*", "*reads", "*id", "a NEAR/5 b", "(" * 5000 + "a"):
        ran = run("search", "lib", bad, "--raw")
        assert code(ran) == "E100"
        assert "--raw" in ran.err
    assert code(run("search", "lib", "a " * 50_000, "--raw")) == "E100"
    for words in (("--any", "--raw"), ("--phrase", "--any"), ("--raw", "--phrase", "--any")):
        assert code(run("search", "lib", "x", *words)) == "E100"
    syntax = "skc search <skill> <query>"
    for text, part in (("", syntax), ("lib", syntax), ("lib configure proxy", "quotes")):
        ran = run("search", *text.split())
        assert code(ran) == "E100"
        assert part in ran.err


# Chinese, Japanese, Korean

CJK = """\
---
name: cjk
description: d
---
# 安装指南

如何查看日志文件。使用Python编程语言,版本3.11。

## 設定ファイル

ログを確認する。々〇ヶ月。ｶﾞｲﾄﾞ

## 한국어 문서

설치 방법을 확인하세요. Ελληνικά

## 𠮷野家

𠮷 is beyond the basic plane.
"""


@pytest.fixture
def cjk(world: World, monkeypatch: pytest.MonkeyPatch) -> Skill:
    monkeypatch.setenv("SKILLC_TOKENIZER", "cjk")
    skill = made(world, "cjk", {"SKILL.md": CJK, "中文/说明.txt": "纯文本说明\n"}, built=False)
    build_skill(skill, tokenizer="cjk")
    return skill


@each(
    ("query", "section"),
    [
        *(
            (word, "安装指南")
            for word in ("日志", "查看", "文件", "日", "编程语言", "Python编程", "python", "版本 日志")
        ),
        *((word, "設定ファイル") for word in ("ログ", "確認", "設定", "ファイル", "々", "ヶ月", "ｶﾞｲﾄﾞ")),
        *((word, "한국어 문서") for word in ("한국", "한국어", "문서", "설치", "확인", "방법을", "ελληνικά")),
        *((word, "𠮷野家") for word in ("𠮷", "𠮷野", "野家", "beyond planes")),
        *((word, "") for word in ("纯文本", "说明")),
    ],
)
def test_cjk(cjk: Skill, query: str, section: str) -> None:
    """[D13a] [RFC-0009] words of one character and more, wherever they stand; and all others as before."""
    found = search_sections(cjk, query, tokenizer="cjk").results
    assert section in [result.section for result in found], query
    assert all("\u2063" not in result.file + result.section + result.snippet for result in found)


def test_cjk_order_counts(cjk: Skill, run: Run) -> None:
    """[D13a] characters stand together in order; file, section and snippet come back as they were; other
    modes too.
    """
    for query in ("日件", "志日", "한서", "グロ", "野𠮷", "装安"):
        assert search_sections(cjk, query, tokenizer="cjk").results == []
    [result] = [r for r in search_sections(cjk, "日志", tokenizer="cjk").results if r.section == "安装指南"]
    assert "如何查看[MATCH]日志[/MATCH]文件" in result.snippet
    [result] = search_sections(cjk, "纯文本", tokenizer="cjk").results
    assert result.file == "中文/说明.txt"
    out = run("search", "cjk", "日志 zebra")
    assert out.err == "note: no section holds all words; these occur: 日志 (1); --any ranks by them\n"
    assert search_sections(cjk, "日志 不存在", mode="any", tokenizer="cjk").results
    assert search_sections(cjk, "查看 日志", mode="phrase", tokenizer="cjk").results
    assert search_sections(cjk, "日志 AND 查看", mode="raw", tokenizer="cjk").results
    assert search_sections(cjk, 'section: "安装"', mode="raw", tokenizer="cjk").results


# The index: which file, and whether it can be used


def alter(skill: Skill, statement: str, path: Path | None = None) -> None:
    connection = sqlite3.connect(path or database(skill))
    connection.execute(statement)
    connection.commit()
    connection.close()


SET = "UPDATE index_meta SET value = '{}' WHERE key = '{}'"


@each(
    ("statements", "expected"),
    [
        # 3, corrupt
        (["DROP TABLE index_meta"], "E002"),
        *((["DELETE FROM index_meta WHERE key = '" + key + "'"], "E002") for key in reader.REQUIRED_KEYS),
        *(
            (["UPDATE index_meta SET value = NULL WHERE key = '" + key + "'"], "E002")
            for key in reader.REQUIRED_KEYS
        ),
        ([SET.format("two", "schema_version")], "E002"),
        ([SET.format("", "schema_version")], "E002"),
        (["DROP TABLE sections"], "E002"),
        # 3 before 4
        ([SET.format("/elsewhere", "skill_path"), SET.format("two", "schema_version")], "E002"),
        # 4, collision
        ([SET.format("/elsewhere", "skill_path")], "E003"),
        # 4 before 5
        ([SET.format("/elsewhere", "skill_path"), SET.format("1", "schema_version")], "E003"),
        ([SET.format("/elsewhere", "skill_path"), SET.format("0" * 64, "source_hash")], "E003"),
        # 5, stale
        ([SET.format("0" * 64, "source_hash")], "E002"),
        ([SET.format("1", "schema_version")], "E002"),
        ([SET.format("unicode61", "tokenizer")], "E002"),
        ([SET.format("cjk", "tokenizer")], "E002"),
        # 6
        ([SET.format("3", "schema_version")], None),
        (["DELETE FROM index_meta WHERE key = 'indexed_at'"], None),
        (["INSERT INTO index_meta VALUES ('other', 'x')"], None),
    ],
)
def test_selection(run: Run, library: Skill, statements: list[str], expected: str | None) -> None:
    """[RFC-0004:C-INDEX] step by step: corrupt, then collision, then stale; only these."""
    path = Path(database(library))
    whole = path.read_bytes()
    for statement in statements:
        alter(library, statement)
    ran = run("search", "lib", "tokens")
    path.write_bytes(whole)
    if expected is None:
        assert (ran.status, ran.err) == (0, "")
    else:
        assert code(ran) == expected
        advice = {"E002": "run 'skc build lib'", "E003": f"delete .skillc-meta/{path.name} and rebuild"}
        assert advice[expected] in ran.err


def test_another_folders_index(run: Run, library: Skill) -> None:
    """[RFC-0004:C-INDEX] the only index there counts if it is of this folder, else it is as if missing."""
    path = Path(database(library))
    other = path.with_name("search-0123456789abcdef.db")
    path.rename(other)
    assert run("search", "lib", "tokens").status == 0
    alter(library, SET.format("/elsewhere", "skill_path"), other)
    assert code(run("search", "lib", "tokens")) == "E002"
    other.write_bytes(b"damaged")
    assert code(run("search", "lib", "tokens")) == "E002"
    run("build", "lib")
    assert other.exists()
    assert run("search", "lib", "tokens").status == 0


def test_no_database(run: Run, world: World, library: Skill) -> None:
    """[RFC-0004:C-INDEX] steps 2 and 3: never built, missing, or nothing that SQLite can open: E002."""
    world.skill("new")
    assert code(run("search", "new", "text")) == "E002"
    path = Path(database(library))
    for content in (b"", b"x", b"SQLite format 3\0" + b"\xff" * 5000):
        path.write_bytes(content)
        assert code(run("search", "lib", "tokens")) == "E002"
    path.unlink()
    assert code(run("search", "lib", "tokens")) == "E002"
    path.mkdir()
    assert code(run("search", "lib", "tokens")) == "E002"


def test_the_manifest_and_the_tokenizer_count(
    run: Run, library: Skill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[RFC-0004:C-INDEX] step 5: a manifest of another build, or a tokenizer that is not preferred now: E002;
    build mends it.
    """
    manifest = Path(library.runtime(), ".skillc", "manifest.json")
    text = manifest.read_text()
    for other in ("{}", "x", "[]", text[:-9], text.replace('"source_hash": "', '"source_hash": "0')):
        manifest.write_text(other)
        assert code(run("search", "lib", "tokens")) == "E002"
    manifest.write_text(text)
    assert run("search", "lib", "tokens").status == 0
    monkeypatch.setenv("SKILLC_TOKENIZER", "cjk")
    assert code(run("search", "lib", "tokens")) == "E002"
    assert run("build", "lib").status == 0
    assert run("search", "lib", "tokens").status == 0
    monkeypatch.delenv("SKILLC_TOKENIZER")
    assert code(run("search", "lib", "tokens")) == "E002"


def test_where_the_index_is(world: World, run: Run) -> None:
    """[D13a] a project skill's index is looked for in the project's runtime, then in the global one."""
    world.skill("pdf")
    assert run("build", "pdf", "--global").status == 0
    assert run("search", "pdf", "text").out.startswith("SKILL.md#")
    assert run("build", "pdf", "--target", "claude").status == 0
    for path in (world.home / ".skillc" / "runtime").rglob("search-*.db"):
        path.write_bytes(b"")
    assert run("search", "pdf", "text").out.startswith("SKILL.md#")


# No query whatever

SYNTAX = [
    *("AND", "OR", "NOT", "NEAR", "NEAR(", "(", ")", '"', '""', "'", "*", "^", ":", "-", "+", "{", "}"),
    *(",", ".", "content:", "{file", "rank", "sections", "--", ";", "%", "_", "\\", "tokens", "daily"),
    *("zebra", "日志", "한국", "section :", "{file section}:", "- content:", "e\u0301", "👩\u200d💻"),
    *"\u2063\u00a0\u3000\ufeff\u202e\0\ud800\udfff \t\n\r\x0b\x1c\x85\u2028\U0010ffff\ufffe",
]
queries = st.lists(st.sampled_from(SYNTAX), max_size=12).map("".join) | st.text()


@pytest.mark.slow
@examples(600)
@given(queries, st.sampled_from(MODES))
@example("*reads", "raw")
def test_any_query(library: Skill, cjk: Skill, query: str, mode: str) -> None:
    """[D22] [RFC-0004:C-QUERY-SYNTAX] no query fails other than by E004; --raw may say that it is none."""
    for skill, tokenizer in ((library, "ascii"), (cjk, "cjk")):
        try:
            search_sections(skill, query, mode=mode, tokenizer=tokenizer)
        except EmptyQuery:
            assert not query.strip(" \t\r\n")
        except InvalidOption:
            assert mode == "raw"


@given(
    st.lists(
        st.sampled_from(["tokens", "daily", "Configure", '"the', "proxy.", "zebra", "---", "tokens"]),
        min_size=1,
    )
)
def test_any_words_as_fts5_has_it(library: Skill, words: list[str]) -> None:
    """[RFC-0004:C-QUERY-SYNTAX] [RFC-0004:C-SEARCH] all words, whatever they hold, with the best first."""
    check_like_fts5(library, " ".join(words))


def test_few_or_many_as_fts5_has_it(world: World) -> None:
    """[RFC-0004:C-SEARCH] the same rows in the same order, equal ones too, whether all are wanted or some."""
    files = {f"{n}.md": f"# A{n % 3}\n\n{'word ' * (n % 3)} same\n" for n in range(9)}
    skill = made(world, "pdf", files)
    for query in ("same", "word", "word same", "a1", "zebra", "same zebra"):
        for limit in range(1, 12):
            check_like_fts5(skill, query, limit)


MEGABYTE = 1_000_000
HUGE: list[Callable[[], str]] = [
    lambda: "x" * MEGABYTE,
    lambda: "x " * (MEGABYTE // 2),
    lambda: " ".join(f"word{n}" for n in range(MEGABYTE // 10)),
    lambda: "tokens " * (MEGABYTE // 7),
    lambda: " ".join(f"tokens{'!' * (n % 50)}{'?' * (n // 50)}" for n in range(MEGABYTE // 50)),
    lambda: "tokens-" * (MEGABYTE // 7),
    lambda: "tokens\u00b7" * (MEGABYTE // 7),
    lambda: '"' * MEGABYTE,
    lambda: "AND OR NOT NEAR(" * (MEGABYTE // 16),
    lambda: "\0" * MEGABYTE,
    lambda: "\ud800" * MEGABYTE,
    lambda: "日志" * (MEGABYTE // 2),
    lambda: "e" + "\u0301" * MEGABYTE,
]


@pytest.mark.slow
@each("make", sample(HUGE, 3))
def test_a_megabyte(library: Skill, make: Callable[[], str]) -> None:
    """[D22] [RFC-0004:C-QUERY-SYNTAX] nor one of a megabyte, in reasonable time."""
    query = make()
    with ends():
        for mode in ("all", "any", "phrase"):
            search_sections(library, query, mode=mode)
    with pytest.raises(InvalidOption, match="longer"):
        search_sections(library, query, mode="raw")


def test_many_words(world: World) -> None:
    """[RFC-0004:C-QUERY-SYNTAX] more words than one expression holds must all be there, too; a phrase of any
    length is found.
    """
    words = [f"word{n}" for n in range(5 * MAX_TERMS)]
    skill = made(
        world, "pdf", {"a.md": f"# A\n\n{' '.join(words)}\n", "b.md": f"# B\n\n{' '.join(words[:-1])}\n"}
    )
    assert places(search_sections(skill, " ".join(words))) == [("a.md", "A")]
    assert len(search_sections(skill, " ".join(words[:-1])).results) == 2
    for unmatched in ([*words, "zebra"], ["zebra", *words]):
        assert search_sections(skill, " ".join(unmatched)).results == []
    assert len(search_sections(skill, " ".join(words[:-1]), limit=1).results) == 1
    assert len(search_sections(skill, " ".join(words * 3), mode="any").results) == 2
    dots = [f"{'.' * n}{'!' * m}" for n in range(1, 20) for m in range(20)]
    assert places(search_sections(skill, " ".join([*dots, *words, *dots]))) == [("a.md", "A")]
    assert places(search_sections(skill, " ".join([*dots, words[-1]]), mode="any")) == [("a.md", "A")]
    assert search_sections(skill, " ".join(dots)).results == []
    text = " ".join(words)
    skill = made(world, "pdf", {"a.md": f"# A\n\n{text}\n", "b.md": f"# B\n\nword1 {text}\n"})
    assert len(search_sections(skill, text, mode="phrase").results) == 2
    assert search_sections(skill, text.replace("word5 ", ""), mode="phrase").results == []
    assert len(search_sections(skill, text.replace(" ", "-")).results) == 2


# Long sections


LONG = "Über alles. " + "Plain words, one after another; and the rest. " * 700
NEEDLES = LONG + "A needle in it. " + LONG + "More needles, two of them."


def test_long_section_has_fts5s_snippet(world: World) -> None:
    """[RFC-0004:C-SEARCH] the snippet of a long section is FTS5's own, up to thousands of matches."""
    skill = made(world, "lib", {"long.md": f"# Long\n\n{NEEDLES}\n"})
    for query in ("needle", "needle rest", "rest", '"needle in"', "the plain", "über"):
        check_like_fts5(skill, query)


@pytest.mark.parametrize("word", ["word", "wörd", "日"])
def test_snippet_among_many_matches(world: World, word: str) -> None:
    """[RFC-0004:C-SEARCH] with more matches than snippet() can bear, the best part is shown."""
    filler = f"{word} " * 6000
    skill = made(world, "lib", {"long.md": f"# Long\n\n{filler}{word} needle {filler}\n"})
    for mode in MODES:
        snippet = search_sections(skill, f"{word} needle", mode=mode).results[0].snippet
        assert "needle" in snippet
        assert snippet.count("[MATCH]") == snippet.count("[/MATCH]") > 0
        assert len(snippet) < 2000
