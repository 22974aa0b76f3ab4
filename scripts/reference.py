"""Write the reference of the documentation site from the code: commands, APIs, agents.

A hook of MkDocs, named in mkdocs.yml: the pages are made while the site is built, so they can't fall behind.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ICON = ROOT / "src/skillc/server/pages/static/icon.svg"
sys.path.insert(0, str(ROOT / "src"))

import skillc
from skillc.cli import load
from skillc.cli.summaries import GROUPS
from skillc.cli.syntax import SHORT, Command, Option, expand
from skillc.cli.usage_errors import usages
from skillc.compiler import read_agents
from skillc.palette import DARK, LIGHT, MONO, SANS
from skillc.results import ERROR, OLD_KEYS, describe, results_of

Line = Iterator[str]
WIDTH = 88  # of a line of code on the site

_JSON = f"""\
With `--format json` a command prints one JSON value on stdout, and with status 1 after an error it is
`{describe(ERROR)}`. [Commands](commands.md) has the shape of each.

In a shape, a key alone has a text or null; `N` is a number and `bool` a truth value, either can be null;
`?` marks a key that may be missing; a name without quotes stands for any key. Releases may add keys.

The top is an object. `outline` and `tools` print a list instead, and with `--format object` the same list in
an object. From the next release on, `tools --format json` will print the object; `outline` stays as it is.

Servers (`serve`, `ui`, `mcp --http`) print an object on a line: at the first start `token`, the admin's, and
`url` when they are ready.

A key means the same everywhere. Some keys repeat another one; they go with the next release:"""


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages to those of docs/; MkDocs calls it."""
    from mkdocs.structure.files import File

    for name, lines in PAGES.items():
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(lines()) + "\n"))
    files.append(File.generated(config, "palette.css", content=write_site_palette()))
    files.append(File.generated(config, "logo.svg", content=ICON.read_text()))
    return files


def write_commands() -> Line:
    yield "# Commands"
    yield ""
    yield "Every command takes `--help`, `--verbose`, `--color` and `--no-pager`. The last three may stand"
    yield "before it, too, and so may `-C <directory>`. Results are on stdout, diagnostics on stderr."
    yield "The status is 0, or 1 after an error, which with `--format json` is also JSON on stdout:"
    yield '`{"error": {"code", "message", "hint"}}`.'
    for title, commands in GROUPS.items():
        yield from ("", f"## {title}")
        for name in commands:
            yield from _write_command(name)


def _write_command(name: str) -> Line:
    command, _ = load(name)
    yield from (
        "",
        f"### skc {name}",
        "",
        escape(command.summary, quote=False),
        "",
        "```text",
        *usages(command),
        "```",
    )
    if command.description:
        yield from ("", escape(command.description.replace("\n", "\n\n"), quote=False))
    if command.arguments:
        yield from ("", "| argument | meaning |", "| --- | --- |")
        yield from (f"| `{a.label}` | {_cell(a.help)} |" for a in command.arguments)
    if command.own_options:
        yield from ("", "| option | meaning |", "| --- | --- |")
        yield from (_describe_option(option, command) for option in command.own_options)
    yield from ("", "[JSON](json.md):", "")
    yield from (f"- `skc {words}`: `{describe(shape)}`" for words, shape in results_of(name))
    yield from ("", "```console", *(f"$ {example}" for example in command.examples), "```")


def _describe_option(option: Option, command: Command) -> str:
    names = [each.name for each in command.options]
    letter = next((letter for letter in SHORT if expand(letter, names) == option.name), "")
    label = f"{letter}, {option.name}" if letter else option.name
    default = f" Default: {option.default}." if option.default is not None else ""
    value = option.value.replace("|", "\\|")
    return f"| `{f'{label} {value}'.rstrip()}` | {_cell(option.help + default)} |"


def write_json() -> Line:
    yield from ("# JSON", "", *_JSON.splitlines(), "", "| command | old | new |", "| --- | --- | --- |")
    for words, pairs in OLD_KEYS.items():
        yield from (f"| `skc {words}` | `{old}` | `{new}` |" for old, new in pairs.items())
    keys = tomllib.loads((ROOT / "scripts/json_keys.toml").read_text())
    yield from ("", "| key | means |", "| --- | --- |")
    yield from (f"| `{key}` | {_cell(text)} |" for key, text in sorted(keys.items()))


def write_agents() -> Line:
    yield from ("# Agents", "", "Where `skc build`, `add` and `import` put skills for each agent.", "")
    yield from ("| name | agent | for the user | for a project |", "| --- | --- | --- | --- |")
    for agent in read_agents():
        names = ", ".join(f"`{name}`" for name in (agent.name, *agent.aliases))
        places = [f"`{place}`" if place else "" for place in (agent.user, agent.project)]
        yield f"| {names} | {_cell(agent.display)} | {' | '.join(places)} |"


def write_python() -> Line:
    yield from (
        "# Python API",
        "",
        "`import skillc` costs nothing until a name is used. [Examples](../python.md).",
    )
    for name in _public_names():
        value = getattr(skillc, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            yield from _write_name(name, value)


def _public_names() -> list[str]:
    """Return the names that `skillc` exports: they are loaded on first use, so `dir` does not have them."""
    tree = ast.parse((ROOT / "src/skillc/__init__.py").read_text())
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    return sorted(names - {"*", "front_door"})


def _write_name(name: str, value: Any) -> Line:
    yield from ("", f"## {name}", "")
    is_built = inspect.isclass(value) and "__init__" in vars(value) and not _is_protocol(value)
    if is_built or inspect.isfunction(value):
        yield from ("```python", _signature(name, value), "```", "")
    yield from _docstring(value)
    if not inspect.isclass(value):
        return
    for member, function in vars(value).items():
        plain = function.__func__ if isinstance(function, (classmethod, staticmethod)) else function
        if not member.startswith("_") and inspect.isfunction(plain):
            yield from ("", "```python", _signature(f"{name}.{member}", getattr(value, member)), "```", "")
            yield from _docstring(plain)


def _is_protocol(value: type) -> bool:
    return bool(getattr(value, "_is_protocol", False))


class _Plain(str):
    """An annotation that is written as it stands in the code, without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _signature(name: str, function: Any) -> str:
    """Return how to call a function or a class, on several lines if one is too short."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return f"{name}(…)"
    parameters = [
        each.replace(annotation=_Plain(each.annotation)) if isinstance(each.annotation, str) else each
        for each in signature.parameters.values()
        if each.name != "self"
    ]
    result = signature.return_annotation
    ending = "" if result in (inspect.Signature.empty, "None", None) else f" -> {_name(result)}"
    call = f"{'await ' if inspect.iscoroutinefunction(function) else ''}{name}"
    line = f"{call}{signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)}"
    if len(line + ending) <= WIDTH:
        return line + ending
    inner = line.removeprefix(call)[1:-1]
    return f"{call}(\n    {_split(inner)},\n){ending}"


def _name(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _split(parameters: str) -> str:
    """Put each parameter on a line of its own: commas within brackets and quotes part nothing."""
    text, depth = "", 0
    for character in parameters:
        depth += (character in "([{") - (character in ")]}")
        text += ",\n   " if character == "," and depth == 0 else character
    return text


def _docstring(value: Any) -> Line:
    text = inspect.getdoc(value) or ""
    parts = re.split(r"(?m)^((?:>>> |\.\.\. ).*(?:\n(?!\n).*)*)", text)
    for number, part in enumerate(parts):
        if part.strip():
            yield from ("```pycon", part, "```") if number % 2 else (escape(part.strip(), quote=False), "")


def write_http() -> Line:
    from skillc.server.api import OPERATIONS
    from skillc.server.api.openapi import make_document

    document = make_document(OPERATIONS)
    schemas = document["components"]["schemas"]
    yield from (
        "# HTTP API",
        "",
        "What a registry (`skc serve`) answers, from its OpenAPI document (`GET /openapi.json`).",
        "[Examples and limits](../registry-api.md);",
        "[`skc serve --read-only`](../http.md) has a few of them.",
        "Shapes are written as those of [commands](json.md). An error is a problem of RFC 9457:",
        f"`{_shape(schemas['Problem'], schemas)}`.",
    )
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method in ("get", "post", "put", "delete", "patch", "head"):
                yield from ("", f"## {method.upper()} {path}", "")
                yield from _write_operation(operation, schemas)


def _write_operation(operation: dict[str, Any], schemas: dict[str, Any]) -> Line:
    for text in (operation.get("summary"), operation.get("description")):
        if text:
            yield from (escape(text, quote=False), "")
    parameters = [each for each in operation.get("parameters", []) if "name" in each]
    if parameters:
        yield from ("| parameter | in | meaning |", "| --- | --- | --- |")
        yield from (f"| `{p['name']}` | {p['in']} | {_cell(p.get('description', ''))} |" for p in parameters)
        yield ""
    if bodies := operation.get("requestBody", {}).get("content", {}):
        kinds = (f"`{kind}`{_describe_content(content, schemas)}" for kind, content in bodies.items())
        yield f"- body: {'; or '.join(kinds)}"
    if role := operation.get("x-role"):
        yield f"- role: {role}"
    errors = []
    for status, answer in operation.get("responses", {}).items():
        contents = answer.get("content", {})
        if "application/problem+json" in contents:
            errors.append(status)
            continue
        yield f"- {status} {answer.get('description', '')}" + "".join(
            f", `{kind}`{_describe_content(content, schemas)}" for kind, content in contents.items()
        )
    if errors:
        yield f"- errors: {', '.join(errors)}"


def _describe_content(content: dict[str, Any], schemas: dict[str, Any]) -> str:
    shape = _shape(content.get("schema", {}), schemas)
    return f": `{shape}`" if shape[:1] in ("{", "[") else ""


def _shape(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Return a schema in the short form of `skillc.results`; a text is nothing at all."""
    if reference := schema.get("$ref"):
        return _shape(schemas[reference.rpartition("/")[2]], schemas)
    if choices := [each for each in schema.get("anyOf", []) if each.get("type") != "null"]:
        return "|".join(dict.fromkeys(_shape(each, schemas) or "text" for each in choices))
    match schema.get("type"):
        case "object" if "properties" in schema:
            properties = schema["properties"].items()
            is_required = schema.get("required", ()).__contains__
            return f"{{{','.join(_member(k, v, is_required(k), schemas) for k, v in properties)}}}"
        case "object":
            values = schema.get("additionalProperties")  # true for values of any kind
            return f"{{key:{_shape(values if isinstance(values, dict) else {}, schemas) or 'text'}}}"
        case "array":
            return f"[{_shape(schema.get('items', {}), schemas) or 'text'}]"
        case "integer" | "number":
            return "N"
        case "boolean":
            return "bool"
    return ""


def _member(key: str, schema: dict[str, Any], is_required: bool, schemas: dict[str, Any]) -> str:
    shape = _shape(schema, schemas)
    name = f'"{key}"{"" if is_required else "?"}'
    return f"{name}:{shape}" if shape and shape != "text" else name


def write_site_palette() -> str:
    """Return the colours of all our pages as those of the site's theme."""
    schemes = [f":root {{ --md-text-font: {SANS}; --md-code-font: {MONO}; }}\n"]
    for scheme, colours in (("default", LIGHT), ("slate", DARK)):
        values = " ".join(f"--md-{name}: {colours[key]};" for name, key in _THEME)
        schemes.append(f'[data-md-color-scheme="{scheme}"] {{ {values} }}\n')
    return "".join(schemes)


# The theme's colours, and ours.
_THEME = (
    ("primary-fg-color", "ground"),
    ("primary-fg-color--light", "raised"),
    ("primary-fg-color--dark", "line"),
    ("primary-bg-color", "ink"),
    ("primary-bg-color--light", "soft"),
    ("accent-fg-color", "accent"),
    ("accent-fg-color--transparent", "accent-ground"),
    ("accent-bg-color", "accent-ink"),
    ("default-bg-color", "ground"),
    ("default-bg-color--light", "raised"),
    ("default-fg-color", "ink"),
    ("default-fg-color--light", "soft"),
    ("default-fg-color--lighter", "soft"),
    ("default-fg-color--lightest", "line"),
    ("typeset-a-color", "accent"),
    ("typeset-mark-color", "accent-ground"),
    ("code-bg-color", "raised"),
    ("code-fg-color", "ink"),
    ("footer-bg-color", "raised"),
    ("footer-bg-color--dark", "raised"),
    ("footer-fg-color", "ink"),
    ("footer-fg-color--light", "soft"),
    ("footer-fg-color--lighter", "soft"),
    ("code-hl-comment-color", "code-comment"),
    ("code-hl-string-color", "code-string"),
    ("code-hl-keyword-color", "code-word"),
    ("code-hl-function-color", "code-name"),
    ("code-hl-name-color", "ink"),
    ("code-hl-variable-color", "code-name"),
    ("code-hl-constant-color", "code-number"),
    ("code-hl-number-color", "code-number"),
    ("code-hl-special-color", "code-number"),
    ("code-hl-generic-color", "code-comment"),
    ("code-hl-operator-color", "code-comment"),
    ("code-hl-punctuation-color", "code-comment"),
)


def on_page_content(html: str, **_: Any) -> str:
    """Show the bars of code in tables: GitHub wants them escaped, and MkDocs shows the backslash."""
    return re.sub(r"<td>.*?</td>", lambda match: match[0].replace("\\|", "|"), html, flags=re.DOTALL)


def on_post_page(output: str, **_: Any) -> str:
    """Give the theme's search dialog a name, which readers of a screen hear."""
    dialog = 'data-md-component="search" role="dialog"'
    return output.replace(dialog, f'{dialog} aria-label="Search"')


def _cell(text: str) -> str:
    return escape(text, quote=False).replace("|", "\\|").replace("\n", " ")


PAGES = {
    "commands": write_commands,
    "json": write_json,
    "agents": write_agents,
    "python": write_python,
    "http": write_http,
}
