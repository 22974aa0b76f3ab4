"""What a program really gets, for any values: counted and spelled out by a real process."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import example, given, strategies as st

from skillc.tools import ToolCall, find_skill, sandbox
from skillc.tools.process import run
from skillc.tools.run import prepare
from tests.conftest import World
from tests.support.examples import examples
from tests.support.tools import executable, tool

# Each argument in hex, one a line, so that nothing of it can be taken for something else.
SPELL = 'for a in "$@"; do printf "%s" "$a" | od -An -v -tx1 | tr -d " \\n"; echo; done'
ROWS = "text | string | yes | Text\nitems | array | no | Items"

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


@pytest.mark.slow
@examples(15)
@given(texts, st.lists(texts, max_size=3))
@example("{{items}} $(id) `id` ${HOME} * ~ ; | & > \\ ' \" \n", ["{{text}}", "", "-n", "a  b"])
def test_the_arguments_of_a_real_process(world: World, text: str, items: list[str]) -> None:
    """[D36] [D38] [TOOLS §6.1] [TOOLS §3.5] exactly the promised arguments arrive, byte for byte."""
    folder = world.global_store / "spell"
    if not folder.exists():
        command = "./scripts/spell.sh fixed --text={{text}} -- {{text}} {{items}}"
        executable(world.global_store, "spell", tool("spell", command, ROWS), spell=SPELL)
    found = find_skill("spell", str(world.project))
    prepared = prepare(
        ToolCall(found, "spell", {"text": text, "items": items}, str(world.project)), world.env
    )
    envelope = run(dataclasses.replace(prepared.launch, sandbox=sandbox.NONE))
    expected = ["fixed", f"--text={text}", "--", text, *items]
    assert envelope.output.split("\n")[:-1] == [word.encode().hex() for word in expected]
