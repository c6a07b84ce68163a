#!/bin/sh
# Starts `svc guard` for sudo, sshd and git with a clean environment: of the caller's variables, only those pass that sudo,
# sshd and git set themselves, and TERM. The folders of Node are fixed; a group may be able to write to those in /usr/local.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin
here=$(dirname -- "$(readlink -f -- "$0")")
exec env -i PATH="$PATH" TERM="$TERM" \
  SUDO_USER="$SUDO_USER" \
  SSH_CONNECTION="$SSH_CONNECTION" SSH_ORIGINAL_COMMAND="$SSH_ORIGINAL_COMMAND" SSH_TTY="$SSH_TTY" \
  GIT_QUARANTINE_PATH="$GIT_QUARANTINE_PATH" \
  node "$here/svc.js" guard "$@"
