"""`skc completion`: scripts for bash, zsh and fish, and the candidates that they ask for.

The scripts only call `skc __complete <words so far>`, which reads the same syntax
as the parser and the help.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skillc.cli import load
from skillc.cli.mistakes import unknown_choice
from skillc.cli.summaries import NAMES
from skillc.cli.syntax import Argument, Arguments, Command, Option
from skillc.cli.topics import TOPICS
from skillc.compiler import read_agents
from skillc.errors import SkillcError
from skillc.gateway import read_outline
from skillc.library import (
    SkillsConfig,
    read_credentials,
    repositories_in_force,
    resolve,
    stored_skills,
)
from skillc.paths import current_directory, library_roots
from skillc.skills import list_files

_BASH = """\
# skc completion for bash. To keep it: skc completion bash > ~/.local/share/bash-completion/completions/skc
_skc() {
    local words=() word quote line
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do  # as the shell will read them
        quote=
        case "$word" in
            [\\"\\']*) quote="${word:0:1}" word="${word:1}" word="${word%"$quote"}" ;;
            *) word="${word//\\\\/}" ;;
        esac
        words+=("$word")
    done
    COMPREPLY=()
    while IFS= read -r line; do
        [ -n "$line" ] || continue
        if [ -z "$quote" ]; then printf -v line %q "$line" && line="${line//\\\\,/,}"; fi
        COMPREPLY+=("$line")
    done < <(skc __complete "${words[@]}" 2>/dev/null)
    if [ ${#COMPREPLY[@]} -eq 0 ] && [[ "$word" != -* ]]; then
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word")
        compopt -o filenames 2>/dev/null
    fi
}
complete -F _skc skc
"""
_ZSH = """\
#compdef skc
# skc completion for zsh. To keep it: skc completion zsh > a directory of $fpath, as _skc
_skc() {
    local -a candidates
    candidates=("${(@f)$(skc __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ ${#candidates} -gt 0 && -n "${candidates[1]}" ]]; then
        compadd -- "${candidates[@]}"
    else
        _files
    fi
}
if [ "$funcstack[1]" = "_skc" ]; then _skc "$@"; else compdef _skc skc; fi
"""
_FISH = """\
# skc completion for fish. To keep it: skc completion fish > ~/.config/fish/completions/skc.fish
function __skc_complete
    set -l words (commandline -opc) (commandline -ct)
    skc __complete $words[2..-1] 2>/dev/null
end
complete -c skc -f -a '(__skc_complete)'
complete -c skc -n 'test -z "$(__skc_complete)"' -F
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}

COMMAND = Command(
    "completion",
    arguments=(Argument("shell", "bash, zsh or fish.", completes="bash zsh fish"),),
    examples=(
        'eval "$(skc completion bash)"',
        "skc completion zsh > ~/.zfunc/_skc",
        "skc completion fish > ~/.config/fish/completions/skc.fish",
    ),
)


def run(arguments: Arguments) -> int:
    shell = arguments.text("shell")
    if shell not in SCRIPTS:
        raise unknown_choice("<shell>", shell, SCRIPTS)
    print(SCRIPTS[shell], end="")
    return 0


def candidates(words: Sequence[str]) -> list[str]:
    """Return what the last of `words` can become; nothing where the shell should offer files."""
    *before, current = words or [""]
    if not before:
        return _with_prefix(current, [*NAMES, "--help", "--version"])
    if before == ["help"]:
        return _with_prefix(current, [*NAMES, *TOPICS])
    if before[0] not in NAMES:
        return []
    command = load(before[0]).COMMAND
    options = {option.name: option for option in command.options}
    previous = options.get(before[-1])
    if previous is not None and previous.value:
        return _values(previous, current, before)
    if current.startswith("-"):
        return _with_prefix(current, [name for name in options if name not in before])
    position = len(_positional(before[1:], options))
    if position >= len(command.arguments) and command.arguments and command.arguments[-1].repeat:
        position = len(command.arguments) - 1
    if position < len(command.arguments):
        return _with_prefix(current, _offers(command.arguments[position].completes, before))
    return []


def _positional(words: Sequence[str], options: dict[str, Option]) -> list[str]:
    """Return the words that are neither options nor their values."""
    positional: list[str] = []
    takes_value = False
    for word in words:
        if takes_value:
            takes_value = False
        elif word.startswith("-"):
            takes_value = word in options and bool(options[word].value)
        else:
            positional.append(word)
    return positional


def _values(option: Option, current: str, before: Sequence[str]) -> list[str]:
    if option.completes == "agents":  # a list: what was written before the last comma stays
        first, comma, last = current.rpartition(",")
        return [f"{first}{comma}{name}" for name in _with_prefix(last, _offers("agents", before))]
    return _with_prefix(current, option.choices or _offers(option.completes, before))


def _offers(what: str, before: Sequence[str]) -> Iterable[str]:
    """Return the names of skills, agents, sections or files, or the words of `what` themselves."""
    try:
        if what == "skills":
            return sorted({skill.name for skill in stored_skills(current_directory())})
        if what == "registries":
            return [each.registry for each in read_credentials()]
        if what == "repos":
            return _repositories(before)
        if what == "repositories":
            return _repositories(("sync",))
        if what == "agents":
            return [agent.name for agent in read_agents()]
        if what in ("sections", "sources"):
            skill = resolve(before[1], current_directory())
            if what == "sources":
                return [file.name for file in list_files(skill.source)]
            return [entry.heading for entry in read_outline(skill)]
    except (SkillcError, OSError):
        return []
    return what.split()


def _repositories(before: Sequence[str]) -> list[str]:
    """Return the names that `repo remove` and `repo sync` can be given."""
    if not {"remove", "sync"} & set(before):
        return []
    cwd = current_directory()
    config = SkillsConfig.load(cwd)
    if "remove" in before:
        return [repository.name for repository in config.repositories]
    return [one.name for one in repositories_in_force(config, next(library_roots(cwd), None))]


def _with_prefix(prefix: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(prefix)]
