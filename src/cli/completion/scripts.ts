/**
 * The scripts for each shell, by its name, which is also the ending of their files. A script passes what was typed to
 * `svc completion words`, so that everything about commands, flags and values is decided in `offers.ts`.
 */
export const scripts = {
  bash: `# bash completion for svc (bash 4 and newer)
_svc() {
  local line cur=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "\${cur#=}")
        ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(svc completion words "--current=$cur" -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null </dev/null)
}
complete -F _svc svc
`,
  zsh: `#compdef svc
# zsh completion for svc, for the completion system (compinit)
_svc() {
  local line
  local -a offers
  for line in "\${(@f)$(svc completion words "--current=$PREFIX" -- "\${(@)words[2,CURRENT-1]}" 2>/dev/null </dev/null)}"; do
    case $line in
      :files)
        [[ $PREFIX == --*=* ]] && compset -P 1 '*='
        _files
        return
        ;;
      ?*) offers+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  if (( $#offers )); then _describe svc offers; else _message 'value'; fi
}
if [[ $funcstack[1] == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
`,
  fish: `# fish completion for svc (fish 3 and newer)
function __svc_complete
    set -l current (commandline -ct)
    set -l typed (commandline -opc)
    set -l offers (svc completion words "--current=$current" -- $typed[2..-1] 2>/dev/null </dev/null)
    if contains -- :files $offers
        __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
    else
        string join \\n -- $offers
    end
end
complete -c svc -f -a '(__svc_complete)'
`,
} as const
