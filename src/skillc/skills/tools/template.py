"""The command template of a tool: split into tokens once, filled with values after [D36 to D39].

One token is one argument, whatever a value holds: nothing that a value contains is split, expanded
or read again.

>>> from skillc.skills import ParameterDefinition
>>> count = ParameterDefinition("count", "integer")
>>> template = parse_template("git log -n {{count}} --oneline", [count])
>>> fill(template, {"count": 5})
['git', 'log', '-n', '5', '--oneline']
>>> fill(template, {})
['git', 'log', '--oneline']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from skillc.skills.tools.parameters import NotOfType, ParameterDefinition, Value, names, value_of
from skillc.skills.tools.tokens import InvalidTemplate, Placeholder, tokenise

__all__ = ["CommandTemplate", "InvalidTemplate", "fill", "parse_template"]

_SCHEMES = ("http://", "https://")
# What a shell would act upon. Alone in a token it is most likely meant so; here it is plain text.
_OPERATORS = frozenset(("|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "2>&1", "2>", "&>", "*"))


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter in a token. `flag` is what a true boolean emits, `default` what stands for no value.

    `encoded`: percent-encoded, because it is in a URL.
    """

    parameter: ParameterDefinition
    flag: str | None = None
    default: Value | None = None
    encoded: bool = False


Token = tuple[str | Variable, ...]


@dataclass(frozen=True, slots=True)
class CommandTemplate:
    """A program and its arguments, each made of literal text and variables."""

    program: str
    arguments: tuple[Token, ...]
    parameters: tuple[ParameterDefinition, ...] = ()
    oddities: tuple[str, ...] = ()  # what looks like a shell's


def parse_template(text: str, parameters: Sequence[ParameterDefinition]) -> CommandTemplate:
    """A template from a fenced block's text; raises InvalidTemplate."""
    first, *rest = tokenise(text)
    if any(isinstance(piece, Placeholder) for piece in first.pieces):
        raise InvalidTemplate("the program can't be a parameter")
    program = "".join(str(piece) for piece in first.pieces)
    if not program or "\0" in program:
        raise InvalidTemplate("there is no program")
    if "/" in program and any(part[:1] == "." and part not in (".", "..") for part in program.split("/")):
        # Hidden files are not among the files that an approval is bound to.
        raise InvalidTemplate("the program is hidden; a name that starts with a dot is no part of a skill")
    known = {parameter.name: parameter for parameter in parameters}
    arguments = tuple(_token(token.pieces, known) for token in rest)
    odd = [token.written for token in rest if token.bare and _is_a_shells(token.written)]
    return CommandTemplate(program, arguments, tuple(parameters), tuple(odd))


def _is_a_shells(written: str) -> bool:
    return written in _OPERATORS or written.startswith("$") or (written[:1] == "`" and len(written) > 1)


def _token(pieces: Sequence[str | Placeholder], known: Mapping[str, ParameterDefinition]) -> Token:
    """A token with its placeholders resolved; in a URL a variable must come after the authority."""
    url = isinstance(pieces[0], str) and pieces[0].lower().startswith(_SCHEMES) if pieces else False
    read = ""
    token: list[str | Variable] = []
    for piece in pieces:
        if isinstance(piece, str):
            if "\0" in piece:
                raise InvalidTemplate("it has a NUL byte")
            read += piece
            token.append(piece)
            continue
        if url and not any(mark in read.partition("://")[2] for mark in "/?#"):
            raise InvalidTemplate(f"{{{{{piece.name}}}}} is in the host of a URL")
        token.append(_variable(piece, known, url))
    return tuple(token)


def _variable(placeholder: Placeholder, known: Mapping[str, ParameterDefinition], url: bool) -> Variable:
    parameter = known.get(placeholder.name)
    if parameter is None:
        raise InvalidTemplate(
            f"{{{{{placeholder.name}}}}} is no parameter; there are {names(list(known.values()))}"
        )
    modifier = placeholder.modifier
    if modifier is None:
        return Variable(parameter, default=parameter.default, encoded=url)
    if parameter.type == "boolean":
        return Variable(parameter, flag=modifier)
    return Variable(parameter, default=_default(parameter, modifier), encoded=url)


def _default(parameter: ParameterDefinition, text: str) -> Value:
    """The default in `{{name:default}}`; for a list, JSON or its one item."""
    try:
        return value_of(parameter.type, text)
    except NotOfType:
        if parameter.type == "array" and not text.startswith("["):
            return (text,)
        raise InvalidTemplate(f"default '{text}' of '{parameter.name}' is not of its type") from None


def fill(template: CommandTemplate, values: Mapping[str, Value]) -> list[str]:
    """The arguments for checked values, the program first."""
    return [template.program, *(argument.text for argument in arguments(template, values))]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as it will be passed.

    `begins_with` is the parameter whose given value it starts with, where it stands for itself: not
    after an option, whose value it would be, and not after `--`.
    """

    text: str
    begins_with: ParameterDefinition | None = None


def arguments(template: CommandTemplate, values: Mapping[str, Value]) -> list[Argument]:
    """The arguments after the program, and which of them a program could take for an option."""
    made: list[Argument] = []
    option = options_end = False  # whether the token before is an option; whether there was a `--`
    for token in template.arguments:
        literal = "".join(map(str, token)) if all(isinstance(piece, str) for piece in token) else None
        texts = [literal] if literal is not None else _texts(token, values)
        if not texts:
            if option and not _is_flag(token):
                made.pop()
            option = False
            continue
        for number, text in enumerate(texts):
            bare = not options_end and (number > 0 or not option)
            made.append(Argument(text, _beginning(token, values) if bare else None))
        option = literal is not None and _takes_a_value(literal)
        options_end = options_end or literal == "--"
    return made


def _takes_a_value(literal: str) -> bool:
    """Whether what follows may be this option's value: `-n`, `--limit`, but not `--limit=5`, `-` and `--`."""
    return literal.startswith("-") and literal not in ("-", "--") and "=" not in literal


def _is_flag(token: Token) -> bool:
    """Whether a token is a boolean's flag: it stands for itself, the option before is not its own."""
    return len(token) == 1 and isinstance(token[0], Variable) and token[0].flag is not None


def _texts(token: Token, values: Mapping[str, Value]) -> list[str]:
    """What a token with variables becomes: nothing where one has no value, several for a list alone."""
    if len(token) == 1 and isinstance(token[0], Variable):
        value = _value(token[0], values)
        return list(value) if isinstance(value, tuple) else [] if value is None else [_as_text(value)]
    parts: list[str] = []
    for piece in token:
        if isinstance(piece, str):
            parts.append(piece)
            continue
        value = _value(piece, values)
        if value is None or value == ():
            return []
        text = _as_text(value)
        parts.append(quote(text, safe="", errors="surrogateescape") if piece.encoded else text)
    return ["".join(parts)]


def _value(variable: Variable, values: Mapping[str, Value]) -> Value | None:
    given = values.get(variable.parameter.name)
    if variable.flag is not None:
        return variable.flag if given is True or (given is None and variable.parameter.default) else None
    return variable.default if given is None else given


def _as_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value) if isinstance(value, tuple) else str(value)


def _beginning(token: Token, values: Mapping[str, Value]) -> ParameterDefinition | None:
    """The parameter whose given value a token starts with; what is empty starts nothing."""
    for piece in token:
        if isinstance(piece, str):
            return None
        value = _value(piece, values)
        if piece.flag is None and piece.parameter.name in values and value != "":
            return piece.parameter
        if value != "":
            return None
    return None
