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
