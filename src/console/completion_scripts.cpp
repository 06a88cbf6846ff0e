// The scripts that ask the binary. Each hands over the words before the cursor and reads what completion_lines() made;
// what differs is how a shell is told.
#include "console/completion.h"

namespace muster::console {
namespace {

constexpr std::string_view kBash = R"bash(# bash completion of muster: eval "$(muster completion bash)"
_muster() {
    local words=() word rest line ending what=":none"
    local i tab=$'\t'
    # bash cuts words at '=' and ':'; muster wants them whole.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]} > 0)) && [[ $word == [=:]* || ${words[-1]} == *[=:] && $word != -* ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    local typed=${words[-1]}
    # Only what follows the last cut is replaced.
    local kept=""
    [[ $typed == *[=:]* ]] && kept=${typed%"${typed##*[=:]}"}
    rest=${typed#"$kept"}
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :*) what=$line ;;
            *) line=${line%%"$tab"*}; COMPREPLY+=("${line#"$kept"}") ;;
        esac
    done < <("${COMP_WORDS[0]/#\~/$HOME}" complete -- "${words[@]}" 2>/dev/null)
    case $what in
        :files*)
            compopt -o filenames 2>/dev/null
            if [[ $what == ":files" ]]; then
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$rest")
            else
                for ending in ${what#:files}; do
                    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -X "!*$ending" -- "$rest")
                done
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$rest")
            fi
            ;;
        :folders)
            compopt -o filenames 2>/dev/null
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$rest")
            ;;
    esac
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -F _muster muster
)bash";

constexpr std::string_view kZsh = R"zsh(#compdef muster
# zsh completion of muster: put this as _muster into a folder of $fpath, or: source <(muster completion zsh)
_muster() {
    local -a values open
    local line what=":none" value tab=$'\t'
    while IFS= read -r line; do
        if [[ $line == :* ]]; then
            what=$line
            continue
        fi
        value=${line%%"$tab"*}
        # _describe takes "value:sentence"; colons in the value are escaped.
        line=${value//:/\\:}${${line#"$value"}/"$tab"/:}
        if [[ $value == *= ]]; then
            open+=("$line")
        else
            values+=("$line")
        fi
    done < <("${words[1]/#\~/$HOME}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( ${#values} )) && _describe -V 'muster' values
    (( ${#open} )) && _describe -V 'muster' open -S ''
    case $what in
        ":files") compset -P '*='; _files ;;
        ":files "*) _files -g "*(${(j:|:)${=what#:files }})" ;;
        ":folders") compset -P '*='; _files -/ ;;
    esac
    return 0
}
if [[ ${funcstack[1]} == _muster ]]; then
    _muster "$@"
else
    compdef _muster muster
fi
)zsh";

constexpr std::string_view kFish = R"fish(# fish completion of muster: muster completion fish | source
function __muster_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program complete -- $words "$typed" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path (string replace -r '.*=' '' -- $typed)
            case ':files *'
                for ending in (string split -n ' ' -- (string sub -s 8 -- $line))
                    __fish_complete_suffix $ending
                end
            case ':folders'
                __fish_complete_directories $typed
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c muster -f -a '(__muster_complete)'
)fish";

}  // namespace

std::string_view completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return {};
}

}  // namespace muster::console
