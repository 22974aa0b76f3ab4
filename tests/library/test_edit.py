"""Changing skills.toml: what is added and cut, and that everything else stays byte for byte."""

from __future__ import annotations

import multiprocessing
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.errors import InvalidConfiguration, InvalidOption
from skillc.library.repositories import edit
from tests.support.cases import each

ODD = """\
# Our skills.
max_injection_bytes   =   1_000 # plenty

  [[ "repositories" ]]   # the project's own
  name = 'project'
  type="filesystem"
path = "skills"
# strict = true

# The company's; ask Ann.
# Twice.
[[repositories]]
type = "git"
name = "company"
url = '''
[[repositories]]
name = "company"'''
notes = [
[1],
]
[repositories.extra]
x = 1
# directly above the next one
[other]
y = nan

# a word at the end
"""


def write(folder: Path, text: str) -> str:
    path = folder / "skills.toml"
    path.write_bytes(text.encode())
    return str(path)


def read(file: str) -> str:
    return Path(file).read_bytes().decode()


def table(name: str, **settings: str | bool) -> dict[str, str | bool]:
    return {"name": name, "type": "filesystem", "path": "p", **settings}


def test_a_new_file(tmp_path: Path) -> None:
    """[D23a] without a file one is made; one that is linked to or closed stays so."""
    file = str(tmp_path / ".skillc" / "skills.toml")
    edit.append_tables(file, [table("a", strict=True)])
    assert read(file) == '[[repositories]]\nname = "a"\ntype = "filesystem"\npath = "p"\nstrict = true\n'
    assert os.listdir(tmp_path / ".skillc") == ["skills.toml"]
    (tmp_path / "elsewhere").mkdir()
    real = Path(write(tmp_path / "elsewhere", VALID))
    real.chmod(0o600)
    link = tmp_path / "skills.toml"
    link.symlink_to("elsewhere/skills.toml")
    edit.append_tables(str(link), [table("b")])
    assert link.is_symlink()
    assert edit.names_in(str(real)) == ["a", "b"]
    assert real.stat().st_mode & 0o777 == 0o600


VALID = '# one\ninventory_threshold=3\n\n[[repositories]] # x\nname="a"\ntype="filesystem"\npath="p" # end'


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_adding_appends(tmp_path: Path, end: str) -> None:
    """[D23a] what is there stays byte for byte, line ends are the file's, the last line gets one."""
    text = VALID.replace("\n", end)
    file = write(tmp_path, text)
    edit.append_tables(file, [table("b")])
    added = f'{end}{end}[[repositories]]{end}name = "b"{end}type = "filesystem"{end}path = "p"{end}'
    assert read(file) == text + added
    assert edit.names_in(file) == ["a", "b"]
    edit.cut_repository(file, "b")
    assert read(file) == text + end


@pytest.mark.slow
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_is_read_as_it_was_given(tmp_path: Path, value: str) -> None:
    """[D23a] whatever characters a setting has."""
    file = write(tmp_path, "")
    edit.append_tables(file, [table("a") | {"path": f"x{value}"}])
    assert tomllib.loads(read(file))["repositories"][0]["path"] == f"x{value}"


def test_removing_cuts_exactly_its_lines(tmp_path: Path) -> None:
    """[D23a] comments, tables, texts and lists around it stay; all of one name, and broken ones, go."""
    file = write(tmp_path, ODD)
    assert edit.cut_repository(file, "company") == ["project"]
    start, end = ODD.index("# The company's"), ODD.index("# directly above")
    assert read(file) == ODD[:start] + ODD[end:]
    file = write(tmp_path, ODD)
    assert edit.cut_repository(file, "project") == ["company"]
    assert read(file) == ODD[: ODD.index('  [[ "repo')] + ODD[ODD.index("# The company's") :]
    odd = 'note = """\n# not a comment"""\n'
    one = f'[[repositories]]\nname = "a"\n{odd}'
    file = write(tmp_path, f'{odd}[[repositories]]\nname = "b"\n{one}[x]\n')
    edit.cut_repository(file, "a")
    assert read(file) == f'{odd}[[repositories]]\nname = "b"\n[x]\n'
    edit.cut_repository(file, "b")
    assert read(file) == f"{odd}[x]\n"
    first, two = '[[repositories]]\nname="a"\n', '[[repositories]]\nname="b"\n'
    file = write(tmp_path, first + two + first)
    assert edit.cut_repository(file, "a") == ["b"]
    assert read(file) == two
    file = write(tmp_path, "[[repositories]]\nname = 'a'\ntype = 'ftp'\n")
    assert edit.cut_repository(file, "a") == []


def test_removing_the_last_one_of_a_file(tmp_path: Path) -> None:
    """[D23a] no blank lines pile up, and a comment that stands apart is nobody's."""
    one = '[[repositories]]\nname = "a"\ntype = "filesystem"\npath = "p"\n'
    for before, after, left in (
        ("", "", ""),
        ("x = 1\n\n\n", "", "x = 1\n"),
        ("# apart\n\n# mine\n", "# mine, too\n", "# apart\n"),
        ("x = 1\n\n", "\n# apart\n", "x = 1\n\n# apart\n"),
        ("", '\n# next\n[[repositories]]\nname="b"\n', '# next\n[[repositories]]\nname="b"\n'),
    ):
        file = write(tmp_path, before + one + after)
        edit.cut_repository(file, "a")
        assert read(file) == left


@each(
    ("text", "message"),
    [
        ("x = \n", "(at line 1, column 5)"),
        ("[[repositories]]\nname = 'a'\nname = 'b'\n", "(at line 3, column"),
        ("repositories = [{name = 'a', type = 'filesystem', path = 'p'}]\n", "edit it by hand"),
        ("repositories = []\n", "edit it by hand"),
        ("repositories.a = 1\n", "must be [[repositories]] tables"),
        ("[repositories]\na = 1\n", "must be [[repositories]] tables"),
        ("[[repositories]]\nname = 'a'\ntype = 'ftp'\n", "type must be"),
    ],
)
def test_files_that_are_left_alone(tmp_path: Path, text: str, message: str) -> None:
    """[D23a] E071 that says where or what, and the file as it was."""
    file = write(tmp_path, text)
    with pytest.raises(InvalidConfiguration) as caught:
        edit.append_tables(file, [table("new")])
    assert message in caught.value.message
    assert file in caught.value.message
    assert read(file) == text


@pytest.mark.slow
def test_many_lines_like_headers(tmp_path: Path) -> None:
    """[D23a] a long list is no hindrance; a long text full of headers is for people to edit."""
    one = '[[repositories]]\nname = "a"\n'
    for before in ("x = [\n" + "[1],\n" * 30_000 + "]\n", "[x] # a, b,\n[y]\n"):
        file = write(tmp_path, before + one)
        edit.cut_repository(file, "a")
        assert read(file) == before
    text = "x = '''\n" + "[[repositories]]\n" * 30_000 + "'''\n" + one
    file = write(tmp_path, text)
    with pytest.raises(InvalidConfiguration, match="edit it by hand"):
        edit.cut_repository(file, "a")
    assert read(file) == text


def test_refusals(tmp_path: Path) -> None:
    """[D23a] no text is E071, an inline list is for people, a name that is taken or not there E100."""
    file = tmp_path / "skills.toml"
    file.write_bytes(b"# \xff\n")
    with pytest.raises(InvalidConfiguration):
        edit.append_tables(str(file), [table("a")])
    assert file.read_bytes() == b"# \xff\n"
    inline = write(tmp_path, "repositories = [{name = 'a'}]\n")
    with pytest.raises(InvalidConfiguration, match="edit it by hand"):
        edit.cut_repository(inline, "a")
    valid = write(tmp_path, VALID)
    with pytest.raises(InvalidOption, match=r"'a' in .* already"):
        edit.append_tables(valid, [table("b"), table("a")])
    with pytest.raises(InvalidOption, match="there is a"):
        edit.cut_repository(valid, "b")
    assert read(valid) == VALID
    with pytest.raises(InvalidOption, match="it has none"):
        edit.cut_repository(str(tmp_path / "nowhere" / "skills.toml"), "b")
    assert not (tmp_path / "nowhere").exists()


def _add_some(file: str, first: int) -> None:
    for number in range(first, first + 20):
        edit.append_tables(file, [table(f"r{number}")])


@pytest.mark.slow
def test_two_at_once_lose_nothing(tmp_path: Path) -> None:
    """[D23a] [D11] processes that add at the same time."""
    file = str(tmp_path / "skills.toml")
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_add_some, args=(file, first)) for first in (0, 100, 200)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len(set(edit.names_in(file))) == 60
    assert os.listdir(tmp_path) == ["skills.toml"]


_COMMENTS = st.sampled_from(["", "\n", "# c\n", "\n# c\n", "# c\n\n", "\n\n"])
_TABLES = st.sampled_from(
    [
        '[[repositories]]\nname = "{}"\n',
        '[[repositories]] # [x]\n  name = "{}"\n# k = 1\nlist = [\n[1], # ]\n]\n',
        '[[repositories]]\nname="{}"\ntext = """\n[[repositories]]\n# x"""\n[repositories.sub]\nq = 1\n',
        "[[repositories]]\nname='{}'\ntext = '''\n\n# \"\"\"\n'''\n",
        '[other-{}]\nx = """\n[a]"""\n',
    ]
)


@pytest.mark.slow
@given(st.lists(st.tuples(_COMMENTS, _TABLES), max_size=6), _COMMENTS, st.booleans())
def test_removing_leaves_the_others(
    tmp_path: Path, made: list[tuple[str, str]], tail: str, windows: bool
) -> None:
    """[D23a] whatever stands around a table, it alone goes, and every line that stays was there before."""
    text = "".join(above + body.format(f"n{number}") for number, (above, body) in enumerate(made)) + tail
    text = text.replace("\n", "\r\n") if windows else text
    names = [table["name"] for table in tomllib.loads(text).get("repositories", [])]
    for name in names:
        file = write(tmp_path, text)
        assert edit.cut_repository(file, name) == [other for other in names if other != name]
        lines = iter(text.split("\n"))
        assert all(line in lines for line in read(file).split("\n"))  # in their order
