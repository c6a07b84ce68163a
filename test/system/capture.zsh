# capture.zsh SCRIPT LINE: what zsh offers at the end of LINE with the completion SCRIPT loaded, one a line.
# Completion runs on a terminal only, so a second zsh runs on one, and each compadd is written down.
zmodload zsh/zpty
offers=$(mktemp)
setup=$(mktemp)
cat >$setup <<END
PROMPT='' RPROMPT=''
autoload -Uz compinit && compinit -u -D
source ${(q)1}
compadd() {
  local -a hits
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)* ]]; then builtin compadd "\$@"; return; fi
  builtin compadd -A hits "\$@"
  print -rl -- \$hits >>${(q)offers}
  builtin compadd "\$@"
}
capture() { _main_complete; print -r -- '<''done>' }
zle -C capture complete-word capture
bindkey '^I' capture
print -r -- '<''ready>'
END
zpty shell zsh -f -i
zpty -w shell "source ${(q)setup}"
zpty -r shell seen '*<ready>*'
zpty -w -n shell "$2"$'\t'
zpty -r shell seen '*<done>*'
zpty -d shell
sort -u $offers
rm -f $offers $setup
