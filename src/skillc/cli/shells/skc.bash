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
