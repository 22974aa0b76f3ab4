"""Ask the person at the client for approval, by elicitation.

A tool that needs approval raises `NeedsApproval` for a subject, which says exactly what would be approved.
A client of an older protocol is asked at once, and the tool runs again. A client of a newer one gets the
question as its result and calls again with the response and our state, which names the open question.

An argument of a tool is never an approval: the model writes those.
"""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext as Context
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from skillc.errors import Question, SkillcError

KEY = "approval"
FIELD = "approve"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {FIELD: {"type": "boolean", "title": "Approve", "description": "Allow this, once."}},
    "required": [FIELD],
}
MAX_OPEN = 100  # questions; a further one closes the oldest
LIFETIME = 600.0  # seconds in which a question can be answered


class NeedsApproval(Question):
    """A run that needs approval: a `question` for a person, and a `refusal` where there is no person.

    `subject` names what the approval is bound to, such as the digest of a skill's files.
    """

    def __init__(self, subject: str, question: str, refusal: SkillcError) -> None:
        super().__init__(question)
        self.subject = subject
        self.question = question
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class _OpenQuestion:
    """A question that a client was sent: about which subject, for which call, and until when."""

    subject: str
    call: str
    deadline: float


class Approvals:
    """The open questions of one server, at most `MAX_OPEN`, by the state that names them.

    The first response closes a question, whatever it says, so a yes is good once.
    """

    def __init__(self) -> None:
        self._open: dict[str, _OpenQuestion] = {}

    def approval(self, ctx: Context, params: types.CallToolRequestParams) -> str | None:
        """Return the subject that a call approves, which carries the response to our question."""
        question = self._open.pop(params.request_state or "", None)
        answer = (params.input_responses or {}).get(KEY)
        if question is None or not isinstance(answer, types.ElicitResult) or not _can_ask(ctx):
            return None
        fits = question.call == _call(ctx, params) and time.monotonic() < question.deadline
        return question.subject if fits and _yes(answer) else None

    async def ask(
        self, ctx: Context, params: types.CallToolRequestParams, question: NeedsApproval
    ) -> types.InputRequiredResult | str:
        """Return the subject once it is approved, or the question as a result; raises the refusal."""
        if params.input_responses or not _can_ask(ctx):
            raise question.refusal
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            form = types.ElicitRequestFormParams(message=question.question, requested_schema=SCHEMA)
            return types.InputRequiredResult(
                input_requests={KEY: types.ElicitRequest(params=form)},
                request_state=self._begin(question.subject, _call(ctx, params)),
            )
        answer = await ctx.session.elicit_form(question.question, SCHEMA, related_request_id=ctx.request_id)
        if not _yes(answer):
            raise question.refusal
        return question.subject

    def _begin(self, subject: str, call: str) -> str:
        """Open a question and return its state, which only the client that is asked gets to know."""
        while len(self._open) >= MAX_OPEN:
            self._open.pop(next(iter(self._open)))
        state = secrets.token_urlsafe(32)
        self._open[state] = _OpenQuestion(subject, call, time.monotonic() + LIFETIME)
        return state


def _call(ctx: Context, params: types.CallToolRequestParams) -> str:
    """Return what an answer must fit: the session, the client, the tool and its arguments."""
    session = ctx.session._connection.session_id  # the SDK has no public handle on a connection
    hello = ctx.session.client_params
    client = hello.client_info.model_dump(mode="json") if hello else None
    return json.dumps([session, client, ctx.protocol_version, params.name, params.arguments], sort_keys=True)


def _can_ask(ctx: Context) -> bool:
    """Return whether the client says that it shows forms to a person; an empty capability means forms."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _yes(answer: types.ElicitResult) -> bool:
    return answer.action == "accept" and (answer.content or {}).get(FIELD) is True
