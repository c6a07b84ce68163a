# bash completion for svc (bash 4 and newer)
_svc() {
  local line cur=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "${cur#=}")
        ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <(svc completion words "--current=$cur" -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null </dev/null)
}
complete -F _svc svc
