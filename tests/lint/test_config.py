"""`.skilllint.toml`: where it is found, what it changes, and what it may not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillc.errors import InvalidConfiguration
from skillc.library import at_path
from skillc.lint import RULES, Settings, lint_skill, read_settings
from tests.conftest import World
from tests.lint.skills import GOOD, Files, front, put
from tests.support.cases import each

TEXT = front("name: pdf", "description: Fills forms", "flavour: x")


def configured(world: World, toml: str, text: str = TEXT, files: Files | None = None) -> list[str]:
    """The rules broken, with their severities, under a configuration in the skill's folder."""
    (put(world, text, files) / ".skilllint.toml").write_text(toml)
    return [f"{f.rule.id} {f.severity}" for f in lint_skill(at_path(str(world.store / "pdf"))).findings]


def test_rules_limits_fields_and_phrases(world: World) -> None:
    """[RFC-0008] rules by number or name in any case, all of them; thresholds; own fields and phrases."""
    assert configured(world, "") == ["SKL108 warning", "SKL109 warning"]
    assert configured(world, '[rules]\nSKL108 = "off"') == ["SKL109 warning"]
    assert configured(world, '[rules]\ndescription-triggers = "off"\nskl109 = "off"') == []
    assert configured(world, '[rules]\nSKL108 = "error"') == ["SKL108 error", "SKL109 warning"]
    text = front("name: PDF", "description: Use when x")
    found = configured(world, '[rules]\nname-format = "warning"', text)
    assert found == ["SKL102 warning", "SKL104 warning"]
    everything = "\n".join(f'{rule.id} = "off"' for rule in RULES)
    assert configured(world, f"[rules]\n{everything}", "no frontmatter [x](y.md)", {"a.md": "## A\n"}) == []
    limits = ("skill-size = 5", "description-length = 3", "name-length = 2", "metadata-tokens = 1")
    toml = "\n".join(["[rules]", 'SKL206 = "warning"', "[limits]", *limits, "body-tokens = 1"])
    found = configured(world, toml, GOOD)
    assert " ".join(line.split()[0] for line in found) == "SKL103 SKL107 SKL206 SKL207 SKL201"
    assert configured(world, "[limits]\nskill-size = 1000", GOOD + "x\n" * 600) == []
    assert configured(world, 'known-fields = ["flavour"]') == ["SKL108 warning"]
    assert configured(world, 'trigger-phrases = ["FILLS"]') == ["SKL109 warning"]


def test_exclude(world: World) -> None:
    """[RFC-0008] nothing is said about files that are left out; links still lead to them."""
    files = {
        "gen/a.md": "## A\n[x](no.md)\n",
        "gen/deep/b.md": "## B\n",
        "c.md": "## C\n",
    }
    body = GOOD + "[a](gen/a.md) [b](gen/deep/b.md) [c](c.md)\n"
    style = '[rules]\nSKL204 = "warning"'
    assert configured(world, style, body, files) == [
        "SKL204 warning",
        "SKL204 warning",
        "SKL301 error",
        "SKL204 warning",
    ]
    for pattern in ("gen", "gen/*", "ge?"):
        assert configured(world, f'exclude = ["{pattern}"]\n{style}', body, files) == ["SKL204 warning"]
    assert len(configured(world, f'exclude = ["gen/a.md", "*/b.md"]\n{style}', body, files)) == 1


def test_the_nearest_file_counts(world: World, tmp_path: Path) -> None:
    """[RFC-0008] from the skill's folder upwards to the project's root, the home directory or the root of a
    git repository, and no further.
    """
    folder = put(world)
    (world.root / ".skilllint.toml").write_text("nonsense")
    assert read_settings(str(folder)) == Settings()
    (world.project / ".skilllint.toml").write_text("[limits]\nskill-size = 1")
    assert read_settings(str(folder)).limits["skill-size"] == 1
    (world.store / ".skilllint.toml").write_text("[limits]\nskill-size = 2")
    assert read_settings(str(folder)).limits["skill-size"] == 2
    (folder / ".skilllint.toml").write_text("[limits]\nname-length = 3")
    assert read_settings(str(folder)).limits == Settings().limits | {"name-length": 3}
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    (repository / "skills" / "pdf").mkdir(parents=True)
    at_home = world.skill("pdf", GOOD, store=world.global_store)
    for root, folder in ((world.home, at_home), (repository, repository / "skills" / "pdf")):
        assert read_settings(str(folder)).file is None
        (root / ".skilllint.toml").write_text("")
        assert read_settings(str(folder)).file == str(root / ".skilllint.toml")


@each(
    ("toml", "says"),
    [
        ("[rules", "Expected"),
        ("x = 1", "unknown key 'x'"),
        ("rules = 1", "'rules' must be a table"),
        ('[rules]\nSKL999 = "off"', "unknown rule 'SKL999'"),
        ('[rules]\nheading-hierarch = "off"', "did you mean SKL205 heading-hierarchy?"),
        ('[rules]\nSKL108 = "no"', "SKL108 must be one of off, warning, error, not 'no'"),
        ("[rules]\nSKL108 = false", "must be one of"),
        ("[rules]\nSKL108 = []", "must be one of"),
        ('[rules]\nSKL108 = "off"\ndescription-triggers = "off"', "set twice"),
        ("[rules]\nexclude = []", "above the first [table]"),
        ("[limits]\nx = 1", "unknown limit 'x'"),
        ("[limits]\nskill-size = 0", "positive integer"),
        ("[limits]\nskill-size = true", "positive integer"),
        ('[limits]\nskill-size = "1"', "positive integer"),
        ("known-fields = 'x'", "'known-fields' must be a list of texts"),
        ("exclude = [1]", "'exclude' must be a list of texts"),
        ("exclude = ['']", "'exclude' must be a list of texts"),
        ("#" * 70_000, "over 64 KiB"),
        ("x = " + "[" * 30_000, ""),
        ("\udcff", ""),
    ],
)
def test_what_it_may_not_say(world: World, toml: str, says: str) -> None:
    """[RFC-0008] [RFC-0005] unknown keys and bad values are E071, with the file's name."""
    path = put(world) / ".skilllint.toml"
    path.write_text(toml, errors="surrogateescape")
    with pytest.raises(InvalidConfiguration) as error:
        lint_skill(at_path(str(world.store / "pdf")))
    assert error.value.message.startswith(f"invalid configuration: {path}: ")
    assert says in error.value.message


def test_a_configuration_that_is_none(world: World) -> None:
    """[RFC-0008] a folder or a broken link of that name is E071, too."""
    folder = put(world)
    (folder / ".skilllint.toml").mkdir()
    with pytest.raises(InvalidConfiguration):
        lint_skill(at_path(str(world.store / "pdf")))
    (folder / ".skilllint.toml").rmdir()
    (folder / ".skilllint.toml").symlink_to("nowhere")
    with pytest.raises(InvalidConfiguration):
        lint_skill(at_path(str(world.store / "pdf")))
