"""Ask the person at the client for approval, by elicitation.

A tool that needs approval raises `NeedsApproval` for a subject, which says exactly what would be approved.
A client of an older protocol is asked at once, and the tool runs again. A client of a newer one gets the
question as its result and calls again with the response and our state; the state is signed, so that it
fits this call and no other.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
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


class NeedsApproval(Question):
    """What is to be approved: a `question` for a person, and a `refusal` where there is no person.

    `subject` names what the approval is bound to, such as the digest of a skill's files.
    """

    def __init__(self, subject: str, question: str, refusal: SkillcError) -> None:
        super().__init__(question)
        self.subject = subject
        self.question = question
        self.refusal = refusal


class Approvals:
    """The questions of one server, and its signature under them."""

    def __init__(self) -> None:
        self._secret = os.urandom(32)

    def approval(self, params: types.CallToolRequestParams) -> str | None:
        """Return the subject that a call approves, which carries the response to our question."""
        answer = (params.input_responses or {}).get(KEY)
        subject, _, signature = (params.request_state or "").rpartition(".")
        valid = hmac.compare_digest(signature, self._signature(subject, params))
        return subject if valid and isinstance(answer, types.ElicitResult) and _yes(answer) else None

    async def ask(
        self, ctx: Context, params: types.CallToolRequestParams, question: NeedsApproval
    ) -> types.InputRequiredResult | str:
        """Return the subject once it is approved, or the question as a result; raises the refusal."""
        ability = types.ClientCapabilities(elicitation=types.ElicitationCapability())
        if params.input_responses or not ctx.session.check_client_capability(ability):
            raise question.refusal
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            form = types.ElicitRequestFormParams(message=question.question, requested_schema=SCHEMA)
            state = f"{question.subject}.{self._signature(question.subject, params)}"
            return types.InputRequiredResult(
                input_requests={KEY: types.ElicitRequest(params=form)}, request_state=state
            )
        answer = await ctx.session.elicit_form(question.question, SCHEMA, related_request_id=ctx.request_id)
        if not _yes(answer):
            raise question.refusal
        return question.subject

    def _signature(self, subject: str, params: types.CallToolRequestParams) -> str:
        call = json.dumps([subject, params.name, params.arguments], sort_keys=True)
        return hmac.new(self._secret, call.encode(), hashlib.sha256).hexdigest()


def _yes(answer: types.ElicitResult) -> bool:
    return answer.action == "accept" and (answer.content or {}).get(FIELD) is True
