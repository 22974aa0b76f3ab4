"""Split the command template of a tool into tokens once, and fill them with values later [D36 to D39].

`{{…}}` is atomic, everything else follows POSIX quoting. One token is one argument: no value is ever
split or expanded.

>>> from skillc.skills.tools import ParameterDefinition
>>> count = ParameterDefinition("count", "integer")
>>> template = parse_template("git log -n {{count}} --oneline", [count])
>>> [argument.text for argument in fill_arguments(template, {"count": 5})]
['log', '-n', '5', '--oneline']
>>> [argument.text for argument in fill_arguments(template, {})]
['log', '--oneline']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import quote

from skillc.skills.tools.parameters import NotOfType, ParameterDefinition, Value, join_names, parse_value

_QUOTABLE = frozenset('$`"\\\n')  # characters that a backslash quotes inside double quotes
_SCHEMES = ("http://", "https://")
# Tokens that are most likely meant for a shell; here they are plain text.
_OPERATORS = frozenset(("|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "2>&1", "2>", "&>", "*"))


class InvalidTemplate(ValueError):
    """A template with a fault; the message says which."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """`{{name}}` or `{{name:modifier}}`."""

    name: str
    modifier: str | None = None


Atoms = list[str | Placeholder]  # characters and placeholders
Pieces = tuple[str | Placeholder, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter in a token.

    `flag` is the text of a boolean that is true, `default` the value if none is given. In a URL the value
    is percent-encoded.
    """

    parameter: ParameterDefinition
    flag: str | None = None
    default: Value | None = None
    in_url: bool = False


Token = tuple[str | Variable, ...]


@dataclass(frozen=True, slots=True)
class CommandTemplate:
    """A program and its arguments, each made of literal text and variables."""

    program: str
    arguments: tuple[Token, ...]
    parameters: tuple[ParameterDefinition, ...] = ()
    oddities: tuple[str, ...] = ()  # tokens that look like a shell's


def parse_template(text: str, parameters: Sequence[ParameterDefinition]) -> CommandTemplate:
    """Parse the text of a fenced block; raises InvalidTemplate."""
    first, *rest = tokenise(text)
    if any(isinstance(piece, Placeholder) for piece in first[0]):
        raise InvalidTemplate("the program can't be a parameter")
    program = _literal(first[0])
    if not program or "\0" in program:
        raise InvalidTemplate("there is no program")
    if "/" in program and any(part[:1] == "." and part not in (".", "..") for part in program.split("/")):
        # An approval is bound to a skill's files, and hidden ones are not among them.
        raise InvalidTemplate("the program is hidden; a name that starts with a dot is no part of a skill")
    by_name = {parameter.name: parameter for parameter in parameters}
    arguments = tuple(_resolve(pieces, by_name) for pieces, _ in rest)
    literals = [_literal(pieces) for pieces, is_bare in rest if is_bare]
    oddities = [t for t in literals if t in _OPERATORS or t[:1] == "$" or (t[:1] == "`" and len(t) > 1)]
    return CommandTemplate(program, arguments, tuple(parameters), tuple(oddities))


def _literal(pieces: Sequence[str | Placeholder]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


def tokenise(text: str) -> list[tuple[Pieces, bool]]:
    """Return the tokens of a template, each with whether it has no quotes; raises InvalidTemplate.

    >>> [pieces for pieces, _ in tokenise("echo 'a b' x{{y}}")]
    [('echo',), ('a b',), ('x', Placeholder(name='y', modifier=None))]
    """
    rest = [*_split_atoms(text.replace("\r\n", "\n").replace("\r", "\n"))][::-1]  # the next one is the last
    tokens: list[tuple[Pieces, bool]] = []
    line_over = False
    while rest:
        if rest[-1] in (" ", "\t"):
            rest.pop()
        elif rest[-1] == "\n":
            line_over = bool(tokens)
            rest.pop()
        elif rest[-2:] == ["\n", "\\"]:
            del rest[-2:]
        elif line_over:
            raise InvalidTemplate("more than one line; put the steps into a script")
        else:
            tokens.append(_read_token(rest))
    if not tokens:
        raise InvalidTemplate("the command is empty")
    return tokens


def _split_atoms(text: str) -> Iterator[str | Placeholder]:
    """Yield characters and placeholders, in linear time."""
    position = 0
    while (start := text.find("{{", position)) >= 0:
        end = text.find("}}", start + 2)
        inner = text[start + 2 : end]
        if end < 0 or "\n" in inner:
            raise InvalidTemplate("'{{' is not closed")
        yield from text[position:start]
        name, colon, modifier = inner.partition(":")
        yield Placeholder(name.strip(), modifier if colon else None)
        position = end + 2
    yield from text[position:]


def _read_token(rest: Atoms) -> tuple[Pieces, bool]:
    """Read up to white space that is not quoted."""
    pieces: Atoms = []
    is_bare = True
    while rest and rest[-1] not in (" ", "\t", "\n"):
        atom = rest.pop()
        if atom in ("'", '"'):
            is_bare = False
            _read_quotes(str(atom), rest, pieces)
        elif atom == "\\":
            is_bare = False
            _read_escape(rest, pieces)
        else:
            pieces.append(atom)
    # Join neighbouring text to one piece; keep empty text only where there is nothing else.
    runs = (list(run) for _, run in groupby(pieces, lambda piece: isinstance(piece, str)))
    texts = ([_literal(run)] if isinstance(run[0], str) else run for run in runs)
    return tuple(piece for run in texts for piece in run if piece != "") or ("",), is_bare


def _read_escape(rest: Atoms, pieces: Atoms) -> None:
    """Read the character after a backslash outside of quotes; a newline joins lines."""
    if not rest:
        raise InvalidTemplate("a backslash at the end quotes nothing")
    if isinstance(rest[-1], Placeholder):
        raise InvalidTemplate("a backslash before '{{' quotes nothing")
    atom = rest.pop()
    if atom != "\n":
        pieces.append(atom)


def _read_quotes(mark: str, rest: Atoms, pieces: Atoms) -> None:
    pieces.append("")  # so that '' is a token
    while rest:
        atom = rest.pop()
        if atom == mark:
            return
        if mark == '"' and atom == "\\" and rest and rest[-1] in _QUOTABLE:
            atom = rest.pop()
            if atom == "\n":
                continue
        pieces.append(atom)
    raise InvalidTemplate(f"{mark} is not closed")


def _resolve(pieces: Pieces, parameters: Mapping[str, ParameterDefinition]) -> Token:
    """Resolve the placeholders of a token; in a URL a variable must come after the authority."""
    in_url = isinstance(pieces[0], str) and pieces[0].lower().startswith(_SCHEMES)
    rest = pieces[0].partition("://")[2] if in_url and isinstance(pieces[0], str) else ""
    token: list[str | Variable] = []
    for piece in pieces:
        if isinstance(piece, str):
            if "\0" in piece:
                raise InvalidTemplate("it has a NUL byte")
            token.append(piece)
            continue
        if in_url and not any(mark in rest for mark in "/?#"):
            raise InvalidTemplate(f"{{{{{piece.name}}}}} is in the host of a URL")
        token.append(_make_variable(piece, parameters, in_url))
    return tuple(token)


def _make_variable(
    placeholder: Placeholder, parameters: Mapping[str, ParameterDefinition], in_url: bool
) -> Variable:
    name, modifier = placeholder.name, placeholder.modifier
    parameter = parameters.get(name)
    if parameter is None:
        names = join_names(list(parameters.values()))
        raise InvalidTemplate(f"{{{{{name}}}}} is no parameter; there are {names}")
    if modifier is None:
        return Variable(parameter, default=parameter.default, in_url=in_url)
    if parameter.type == "boolean":
        return Variable(parameter, flag=modifier)
    default: Value
    try:
        default = parse_value(parameter.type, modifier)
    except NotOfType:
        if parameter.type != "array" or modifier.startswith("["):
            raise InvalidTemplate(f"default '{modifier}' of '{name}' is not of its type") from None
        default = (modifier,)  # the one item of a list
    return Variable(parameter, default=default, in_url=in_url)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as the program gets it.

    `begins_with` is the parameter whose given value it starts with. It is None after an option, whose
    value this argument is, and after `--`.
    """

    text: str
    begins_with: ParameterDefinition | None = None


def fill_arguments(template: CommandTemplate, values: Mapping[str, Value]) -> list[Argument]:
    """Return the arguments after the program, and which of them a program could take for an option."""
    arguments: list[Argument] = []
    option = options_end = False  # whether the token before is an option; whether there was a `--`
    for token in template.arguments:
        literal = "".join(map(str, token)) if all(isinstance(piece, str) for piece in token) else None
        texts = [literal] if literal is not None else _fill_token(token, values)
        if not texts:
            is_flag = len(token) == 1 and isinstance(token[0], Variable) and token[0].flag is not None
            if option and not is_flag:  # drop the option whose value is missing
                arguments.pop()
            option = False
            continue
        for number, text in enumerate(texts):
            in_place = not options_end and (number > 0 or not option)
            arguments.append(Argument(text, _first_parameter(token, values) if in_place else None))
        # The next token may be the value of `-n` or `--limit`, but not of `--limit=5`, `-` and `--`.
        option = (
            literal is not None and literal[:1] == "-" and literal not in ("-", "--") and "=" not in literal
        )
        options_end = options_end or literal == "--"
    return arguments


def _fill_token(token: Token, values: Mapping[str, Value]) -> list[str]:
    """Return the texts of a token with variables: none where a value is missing, several for a list alone."""
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
        parts.append(quote(text, safe="", errors="surrogateescape") if piece.in_url else text)
    return ["".join(parts)]


def _value(variable: Variable, values: Mapping[str, Value]) -> Value | None:
    value = values.get(variable.parameter.name)
    if variable.flag is not None:
        return variable.flag if value is True or (value is None and variable.parameter.default) else None
    return variable.default if value is None else value


def _as_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value) if isinstance(value, tuple) else str(value)


def _first_parameter(token: Token, values: Mapping[str, Value]) -> ParameterDefinition | None:
    """Return the parameter whose given value a token starts with; empty values don't count."""
    for piece in token:
        if isinstance(piece, str):
            return None
        value = _value(piece, values)
        if value != "":
            return piece.parameter if piece.flag is None and piece.parameter.name in values else None
    return None
