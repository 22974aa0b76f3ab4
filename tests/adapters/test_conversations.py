"""Whole conversations: the model sees the inventory, browses, loads and answers, in every framework."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from skillc import AgentBuildConfig, AgentFactory, ApprovalRequest, BuiltAgent, SkillsConfig, SkillToolset
from skillc.engine import SkillResolutionFailed, SkillsResolved
from tests.adapters.conftest import FIRE, MACHINE, MACHINE_NAME, QUESTION, TIDES, WORK, WORKED, Shelf
from tests.adapters.drivers import NAMES, OWN, Talk, driver
from tests.adapters.model import Call, caller, reader, seeker
from tests.adapters.providers import Provider
from tests.support.tools import executable

# The OpenAI SDK's `run_sync` says so itself when it runs twice in one loop.
pytestmark = pytest.mark.filterwarnings("ignore:asynchronous generator .* was scheduled:ResourceWarning")


@pytest.fixture(params=NAMES)
def talk(request: pytest.FixtureRequest) -> Talk:
    return driver(request.param)


def results(answer: str) -> list[list[Any]]:
    value = json.loads(answer)
    assert isinstance(value, list)
    return value


@pytest.mark.slow
def test_discovery(talk: Talk, shelf: Shelf, server: Provider) -> None:
    """[LIB: 2. CLI — Interactive skill discovery] [SURFACES: Python] inventory, browse, load, answer."""
    assert talk(shelf.agent(), server, [QUESTION]) == [shelf.word]
    assert len(server.seen) == 3
    assert [e.skills for e in shelf.events if isinstance(e, SkillsResolved)] == [(TIDES,)]


@pytest.mark.slow
def test_finding(talk: Talk, shelf: Shelf, server: Provider) -> None:
    """[LIB: Builtin Tools (meerkat-tools)] [D47] the task described, the best loaded, in every framework."""
    server.mind = seeker
    assert talk(shelf.agent(), server, ["When do the tides turn?"]) == [shelf.word]
    (found, _) = server.seen[-1].results
    assert [skill["id"] for skill in json.loads(found.text)["skills"]] == [TIDES]
    limit = server.seen[0].tools["find_skills"]["properties"]["limit"]
    assert limit["description"] == "At most so many skills; 5 without it."


@pytest.mark.slow
def test_stable_over_turns(talk: Talk, shelf: Shelf, server: Provider) -> None:
    """[LIB: Renderer (spec-compliant XML)] own words, then skills, the same in all requests of all turns."""

    def says() -> Iterator[str]:
        yield QUESTION
        shelf.add("flying/kites", "Kites", "Let it go.")  # for the next agent, not in mid-conversation
        yield QUESTION

    assert talk(shelf.agent(), server, says()) == [shelf.word] * 2
    assert "flying" in shelf.agent().system_prompt
    first = server.seen[0]
    assert len(server.seen) == 6
    assert all((seen.system, seen.tools) == (first.system, first.tools) for seen in server.seen)
    assert first.system.startswith(f"{OWN}\n\n<available_skills")
    assert list(first.tools) == [
        "browse_skills",
        "load_skill",
        "find_skills",
        "list_skill_files",
        "read_skill_file",
    ]
    assert server.seen[-1].users == [QUESTION, QUESTION]


def test_reference_in_a_message(talk: Talk, shelf: Shelf, server: Provider) -> None:
    """[LIB: Per-turn /skill-ref processing] [D31] [LIB: Failure semantics] the block arrives, the prefix
    goes, later turns keep it; what leads nowhere stays.
    """
    server.mind = reader
    answers = talk(shelf.agent(), server, [f"/{TIDES} When is high water?", "Thanks."])
    assert answers[0] == f"{shelf.word} Asked: When is high water?"
    assert server.seen[-1].users[0] == server.seen[0].users[0]
    assert server.seen[0].users[0].startswith(f'<skill id="{TIDES}">')
    assert [e.skills for e in shelf.events if isinstance(e, SkillsResolved)] == [(TIDES,)]
    answers = talk(shelf.agent(), server, ["/not/there When is high water?"])
    assert answers == ["No skill has reached me. Asked: /not/there When is high water?"]
    assert shelf.events[-1:] == [SkillResolutionFailed("not/there", "skill 'not/there' not found")]


def test_preloaded(talk: Talk, shelf: Shelf, server: Provider) -> None:
    """[LIB: Build flow (factory.rs step 11, revised)] the block is in the system prompt from the start."""
    server.mind = reader
    assert talk(shelf.preloaded(), server, ["High water?"]) == [f"{shelf.word} Asked: High water?"]


@pytest.mark.slow
def test_failures_reach_the_model(talk: Talk, shelf: Shelf, server: Provider) -> None:
    """[LIB: Failure semantics] an error is a result marked as one, and the run goes on."""
    server.mind = caller(
        Call("load_skill", {"id": "not/there"}),
        Call("load_skill", {}),
        Call("load_skill", {"id": TIDES}),
    )
    (answer,) = talk(shelf.agent(), server, ["Load them."])
    missing, wrong, right = results(answer)
    assert "skill 'not/there' not found; find_skills and browse_skills show what there is" in missing[0]
    assert wrong[0].endswith("argument 'id' is missing")
    assert shelf.word in right[0]
    assert [missing[1], wrong[1], right[1]] == [True, True, False]


@pytest.mark.slow
def test_denied(talk: Talk, shelf: Shelf, server: Provider) -> None:
    """[LIB: SkillEngine trait (revised)] what an agent may not use is not there for it: nowhere."""
    server.mind = caller(
        Call("load_skill", {"id": TIDES}),
        Call("browse_skills", {}),
        Call("load_skill", {"id": "cooking/recipe-1"}),
    )
    agent = shelf.agent(AgentBuildConfig(allow=("cooking", "sailing"), deny=("sailing",)))
    (answer,) = talk(agent, server, ["Load it."])
    denied, listing, allowed = results(answer)
    assert denied[1]
    assert "not found" in denied[0]
    assert "Stir it." in allowed[0]
    assert "sailing" not in listing[0]
    assert "sailing" not in server.seen[0].system


@pytest.mark.slow
def test_many_calls_at_once(talk: Talk, shelf: Shelf, server: Provider) -> None:
    """[LIB: load_skill tool] twenty calls in one reply: every result is that of its own call."""
    ids = [f"cooking/recipe-{number % 13}" for number in range(20)]
    server.mind = caller(*(Call("load_skill", {"id": skill_id}) for skill_id in ids))
    (answer,) = talk(shelf.agent(), server, ["Load them all."])
    for skill_id, (text, is_error) in zip(ids, results(answer), strict=True):
        assert text.startswith(f'<skill id="{skill_id}">')
        assert not is_error
    assert len(shelf.events) == 20


@pytest.mark.slow
def test_tools_of_any_kind(talk: Talk, machine: BuiltAgent, server: Provider) -> None:
    """[LIB: Builtin Tools (meerkat-tools)] any schema and names arrive; what a tool raises is a result."""
    server.mind = caller(Call(MACHINE_NAME, WORK), Call(MACHINE_NAME, FIRE))
    (answer,) = talk(machine, server, ["Dredge."])
    worked, burnt = results(answer)
    assert worked == [WORKED, False]
    assert burnt[0].endswith("RuntimeError: the machine is on fire")
    assert burnt[1]
    given, meant = server.seen[0].tools[MACHINE_NAME], MACHINE.parameters
    kinds = {name: schema["type"] for name, schema in given["properties"].items()}
    assert kinds == {name: schema["type"] for name, schema in meant["properties"].items()}
    assert given["properties"]["config"]["properties"] == {"depth": {"type": "number"}}
    assert given["required"] == meant["required"]


def test_switched_off(talk: Talk, server: Provider) -> None:
    """[LIB: AgentFactory changes] skills off: an ordinary agent, with nothing added."""
    server.mind = lambda seen: f"{seen.system} {list(seen.tools)} {seen.users}"
    agent = AgentFactory(config=SkillsConfig(enabled=False)).build_agent_sync()
    assert talk(agent, server, ["/pdf Hello"]) == [f"{OWN} [] ['/pdf Hello']"]


COUNT = """### count

Count the lines of some text.

#### Parameters

| Name | Type | Required | Description |
| --- | --- | --- | --- |
| text | string | yes | The text. |
| times | integer | no | How often (default: 1). |

#### Command

```bash
./scripts/count.sh {{text}} {{times}}
```
"""


@pytest.mark.slow
@pytest.mark.parametrize("approved", [True, False])
def test_tools_of_a_skill(talk: Talk, shelf: Shelf, server: Provider, approved: bool) -> None:
    """[D46] [D47] a skill's tool is called like the others, through approval; off unless it is asked for."""
    executable(shelf.root, "counting", COUNT, count='echo "counted $1 $2"')
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return approved

    server.mind = caller(Call("counting__count", {"text": "a; b", "times": 2}))
    agent = shelf.agent(AgentBuildConfig(tools=SkillToolset(approve=approve)))
    ((text, is_error),) = results(talk(agent, server, ["Count it."])[0])
    assert ("counted a; b 2" in text) is approved
    assert is_error is not approved
    assert [request.tool for request in asked] == ["counting.count"]
    assert "counting__count" in server.seen[0].tools
    assert not any("__" in tool.name for tool in shelf.agent().tools)
