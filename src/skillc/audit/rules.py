"""The table of rules: number, name, level, and what each looks for.

A01 to A09 are what a skill asks for, A10 to A19 code and settings that change the machine, A20 to A24
secrets, A30 to A34 what is hidden, A40 to A45 what is said to the agent, A50 to A52 attacks that are known by
their form, A90 to A92 the audit itself. Numbers are stable: policies, baselines and lock files name them.

>>> find_rule("remote-code").id
'A10'
"""

from __future__ import annotations

from dataclasses import dataclass

from skillc.rulebook import index_rules, suggest_word

VERSION = "9"  # of the rules, as lock files have it; a new number for each change of what is found
NOTE, REVIEW, BLOCK, OFF = "note", "review", "block", "off"
LEVELS = (NOTE, REVIEW, BLOCK)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule and its level, unless a policy says otherwise."""

    id: str
    name: str
    level: str
    subject: str

    def __str__(self) -> str:
        return f"{self.id} {self.name}"


_TABLE = (
    ("A01", "host", NOTE, "a host that scripts contact"),
    ("A02", "command", NOTE, "a program that scripts run"),
    ("A03", "environment", NOTE, "an environment variable that scripts read"),
    ("A04", "write-outside", NOTE, "a file written outside of the skill and the working directory"),
    ("A05", "install", NOTE, "a package that is installed"),
    ("A06", "unpinned", NOTE, "a package that is run in its newest version, whatever that is"),
    ("A07", "undeclared", NOTE, "something that scripts use and the frontmatter does not declare"),
    ("A08", "binary", REVIEW, "a compiled program, which can't be read"),
    ("A09", "unread", REVIEW, "a file or a part of one that was not checked"),
    ("A10", "remote-code", REVIEW, "code that is downloaded and run"),
    ("A11", "remote-code-odd", BLOCK, "code that is run from an address that serves no software"),
    ("A12", "decoded-code", REVIEW, "code that is decoded and run"),
    ("A13", "decoded-danger", BLOCK, "decoded code that downloads, hides or reads secrets"),
    ("A14", "persistence", REVIEW, "something that runs again later: cron, services, profiles, git hooks"),
    ("A15", "hooks", REVIEW, "commands that an agent runs by itself: hooks, MCP servers"),
    ("A16", "agent-files", REVIEW, "a change to an agent's settings, its memory or other skills"),
    ("A17", "permissions", REVIEW, "a switch that stops an agent from asking"),
    ("A18", "privileges", REVIEW, "rights of root, or of the whole machine"),
    ("A19", "defences", REVIEW, "a protection that is switched off"),
    ("A20", "secret-read", REVIEW, "a file or a store of secrets that is read"),
    ("A21", "secret-sent", BLOCK, "secrets that are read and sent"),
    ("A22", "environment-dump", NOTE, "the whole environment, which holds secrets"),
    ("A23", "credential-elsewhere", REVIEW, "a service's credential that is sent to another host"),
    ("A24", "hard-coded-secret", REVIEW, "a key or a token in the skill's own files"),
    ("A30", "hidden-characters", REVIEW, "characters that are not shown or change the order of others"),
    ("A31", "hidden-instructions", BLOCK, "text written in characters that are not shown"),
    ("A32", "look-alike-host", REVIEW, "a host's name in letters that look like others"),
    ("A33", "invisible-text", REVIEW, "instructions that a reader of the page does not see"),
    ("A34", "encoded-text", REVIEW, "encoded text that holds instructions"),
    ("A40", "secrecy", REVIEW, "an instruction to keep something from the user"),
    ("A41", "override", REVIEW, "an instruction against the agent's other instructions or its system prompt"),
    ("A42", "other-skills", REVIEW, "an instruction about other skills"),
    ("A43", "send-instruction", BLOCK, "an instruction to send secrets or the conversation away"),
    ("A44", "download-instruction", REVIEW, "an instruction to download and run a program"),
    ("A45", "copy-instruction", REVIEW, "an instruction to send the agent's work elsewhere, again and again"),
    ("A50", "reverse-shell", BLOCK, "a shell that is handed to another machine"),
    ("A51", "destructive", REVIEW, "a command that deletes or overwrites far more than the skill's files"),
    ("A52", "miner", BLOCK, "a miner of cryptocurrency"),
    ("A90", "judge", REVIEW, "what the judge says"),
    ("A91", "denied", BLOCK, "a host or a command that the policy denies"),
    ("A92", "allowance", NOTE, "a note in the skill that allows findings, and has no effect"),
)
RULES = tuple(Rule(*row) for row in _TABLE)
BY_ID = {rule.id: rule for rule in RULES}
_BY_WORD = index_rules(RULES)


def find_rule(word: str) -> Rule | None:
    """Return the rule with that number or name, in any case."""
    return _BY_WORD.get(word.lower())


def suggest_rule(word: str) -> str:
    """Return the rule that a word may mean, as the end of a message."""
    return suggest_word(word, _BY_WORD)
