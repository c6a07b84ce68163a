#compdef svc
# zsh completion for svc, for the completion system (compinit)
_svc() {
  local line
  local -a offers
  for line in "${(@f)$(svc completion words "--current=$PREFIX" -- "${(@)words[2,CURRENT-1]}" 2>/dev/null </dev/null)}"; do
    case $line in
      :files)
        [[ $PREFIX == --*=* ]] && compset -P 1 '*='
        _files
        return
        ;;
      ?*) offers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  if (( $#offers )); then _describe svc offers; else _message 'value'; fi
}
if [[ $funcstack[1] == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
