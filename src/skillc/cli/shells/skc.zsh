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
