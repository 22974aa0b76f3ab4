"""`skc completion`: scripts for bash, zsh and fish, and the candidates that they ask for.

The scripts only call `skc __complete <words so far>`, which reads the same syntax
as the parser and the help.
"""

from __future__ import annotations

from skillc.cli import load, show
from skillc.cli.mistakes import unknown_choice
from skillc.cli.summaries import NAMES
from skillc.cli.syntax import FORMAT, SHORT, Argument, Arguments, Command, Option, expand
from skillc.cli.topics import TOPICS
from skillc.cli.values import Line, offer_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BASH = r"""
# skc completion for bash. To keep it: skc completion bash > ~/.local/share/bash-completion/completions/skc
_skc() {
    local words=() rest="$COMP_LINE" index last word quote line start= breaks=
    for ((index = 0; index <= COMP_CWORD; index++)); do  # bash splits at : = @, which are no ends of words
        word="${COMP_WORDS[index]}" last=$((${#words[@]} - 1))
        if [ $last -ge 0 ] && [ -n "$COMP_LINE" ] && [[ "$rest" != [[:space:]]* ]]; then
            words[last]+="$word"
        else
            words+=("$word")
        fi
        rest="${rest#"${rest%%[![:space:]]*}"}" rest="${rest#"$word"}"
    done
    for index in "${!words[@]}"; do  # as the shell will read them
        quote= word="${words[index]}"
        case "$word" in
            [\"\']*) quote="${word:0:1}" word="${word:1}" word="${word%"$quote"}" ;;
            *) word="${word//\\/}" ;;
        esac
        words[index]="$word"
    done
    if [ -z "$quote" ] && [ -n "$COMP_LINE" ]; then  # bash replaces the part behind its last split alone
        for line in : = @; do [[ "$COMP_WORDBREAKS" != *$line* ]] || breaks+="$line"; done
        [ -z "$breaks" ] || start="${word%"${word##*[$breaks]}"}"
        start="${start%@}"  # an @ is the first letter of that part
    fi
    COMPREPLY=()
    while IFS= read -r line; do
        [ -n "$line" ] || continue
        case "$line" in *[=/]) compopt -o nospace 2>/dev/null ;; esac
        line="${line#"$start"}"
        case "$quote" in  # skills choose their headings: none may become a command
            '') printf -v line %q "$line" && line="${line//\\,/,}" ;;
            \') [[ "$line" != *\'* ]] || continue ;;
            *) line="${line//\\/\\\\}" line="${line//\"/\\\"}"
                line="${line//\$/\\\$}" line="${line//\`/\\\`}" ;;
        esac
        COMPREPLY+=("$line")
    done < <(skc __complete "${words[@]:1}" 2>/dev/null)
    if [ ${#COMPREPLY[@]} -eq 0 ] && [[ "$word" != -* ]]; then
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word")
        compopt -o filenames 2>/dev/null
    fi
}
complete -F _skc skc
""".lstrip()
_ZSH = r"""
#compdef skc
# skc completion for zsh. To keep it: skc completion zsh > a directory of $fpath, as _skc
_skc() {
    local -a before candidates
    before=("${(@Q)words[2,CURRENT-1]}")
    candidates=("${(@f)$(skc __complete "${before[@]}" "${(Q)PREFIX}" 2>/dev/null)}")
    if [[ -z "${candidates[1]}" ]]; then
        _files
    elif [[ "${candidates[1]}" == *[=/] ]]; then
        compadd -S '' -- "${candidates[@]}"
    else
        compadd -- "${candidates[@]}"
    fi
}
if [ "$funcstack[1]" = "_skc" ]; then _skc "$@"; else compdef _skc skc; fi
""".lstrip()
_FISH = r"""
# skc completion for fish. To keep it: skc completion fish > ~/.config/fish/completions/skc.fish
function __skc_complete
    set -l words (commandline -opc) (commandline -ct | string unescape)
    set -l candidates (skc __complete $words[2..-1] 2>/dev/null)
    if set -q candidates[1]
        printf '%s\n' $candidates
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c skc -f -a '(__skc_complete)'
""".lstrip()
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}

COMMAND = Command(
    "completion",
    arguments=(Argument("shell", "bash, zsh or fish.", completes="bash zsh fish"),),
    options=(FORMAT,),
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
    script = SCRIPTS[shell]
    return show(arguments, lambda: {"shell": shell, "script": script}, lambda: script.splitlines())


def candidates(words: Sequence[str]) -> list[str]:
    """Return what the last of `words` can become; nothing where the shell should offer files."""
    *before, current = words or [""]
    before = _skip_common(before)
    if not before:
        return _with_prefix(current, [*NAMES, "help", "version", "--help", "--version", "-C", *_NAMES_BEFORE])
    if before[-1] in _VALUES_BEFORE and len(before) == 1:
        return _with_prefix(current, _VALUES_BEFORE[before[-1]])
    if before == ["help"]:
        return _with_prefix(current, [*NAMES, *TOPICS])
    if before[0] not in NAMES:
        return []
    return _of_command(load(before[0]).COMMAND, before[1:], current)


# Options that may stand before the command, and their values; -C takes a directory, which the shell offers.
_NAMES_BEFORE = ("--color", "--no-pager")
_VALUES_BEFORE: dict[str, Sequence[str]] = {"-C": (), "--color": ("auto", "always", "never")}


def _skip_common(words: Sequence[str]) -> list[str]:
    """Return the words from the command on, or from an option before it that still needs its value."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        if rest[0] in _VALUES_BEFORE and len(rest) == 1:
            return rest
        del rest[: 2 if rest[0] in _VALUES_BEFORE else 1]
    return rest


def _of_command(command: Command, before: Sequence[str], current: str) -> list[str]:
    """Return what a word of a command can become, after the words before it."""
    options = {option.name: option for option in command.options}
    for letter in SHORT:
        if name := expand(letter, options):
            options[letter] = options[name]
    if "--" in before:
        return []  # behind -- all is text
    switches = [word for word in before if word.startswith("-")]
    line = Line(_positional(before, options), switches, _given(before, options), current)
    previous = options.get(before[-1]) if before else None
    if previous is not None and previous.value:
        return _values(previous, line, current)
    name, equals, value = current.partition("=")
    if equals and name in options and options[name].value:
        return [f"{name}={each}" for each in _values(options[name], line, value)]
    if current.startswith("-"):
        given = [option for option in options.values() if not option.repeat and option.name in before]
        names = [name for name in options if name.startswith("--")]
        return _with_prefix(current, [name for name in names if options[name] not in given])
    position = len(line.positional)
    if position >= len(command.arguments) and command.arguments and command.arguments[-1].repeat:
        position = len(command.arguments) - 1
    if position < len(command.arguments):
        return offer_values(command.arguments[position].completes, line, current)
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


def _given(words: Sequence[str], options: dict[str, Option]) -> dict[str, str]:
    """Return the values that options were given, by their long names."""
    given: dict[str, str] = {}
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if name in options and options[name].value:
            given[options[name].name] = value if equals else following
    return given


def _values(option: Option, line: Line, current: str) -> list[str]:
    if option.choices:
        return _with_prefix(current, option.choices)
    return offer_values(option.completes, line, current)


def _with_prefix(prefix: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(prefix)]
