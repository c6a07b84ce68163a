#!/bin/sh
# Starts PostgreSQL and three svc nodes in a temporary folder, for a look. Ctrl-C stops them and removes everything.
# Their addresses and key are in nodes.env in the current folder, for another terminal.
# Requires PostgreSQL 13 or newer (on Debian: apt install postgresql) and svc. SVC names another svc: SVC=bin/svc.js
set -eu

svc=$(command -v "${SVC:-svc}") || { echo 'svc was not found: set SVC to its path' >&2; exit 1; }
svc=$(realpath "$svc")
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || bin=$(dirname "$(command -v initdb)")
[ -x "$bin/initdb" ] || { echo 'PostgreSQL was not found: apt install postgresql' >&2; exit 1; }
here=$PWD
[ ! -e nodes.env ] || { echo 'nodes.env exists already: stop the other nodes, or remove it' >&2; exit 1; }
folder=$(mktemp -d)
started=

# PostgreSQL refuses to run as root.
as_user() {
  if [ "$(id -u)" = 0 ]; then exec setpriv --reuid nobody --regid nogroup --clear-groups "$@"; else exec "$@"; fi
}

stop() {
  trap '' INT TERM
  for one in $started; do kill -INT "$one" 2>/dev/null || :; wait "$one" || :; done
  rm -rf "$folder" "$here/nodes.env"
}
trap stop EXIT
trap 'exit 0' INT TERM HUP

until_ready() { # FILE TEXT
  for _ in $(seq 600); do
    grep -qs "$2" "$1" && return
    sleep 0.1
  done
  cat "$1" >&2
  exit 1
}

db=$folder/db
mkdir "$db"
[ "$(id -u)" != 0 ] || { chmod 711 "$folder"; chown nobody:nogroup "$db"; }
cd "$folder"
(as_user "$bin/initdb" -D "$db" -U svc -A trust -E UTF8) >/dev/null
# It listens on a socket in this folder, and on no port.
(as_user "$bin/postgres" -D "$db" -c listen_addresses= -c unix_socket_directories="$db") >postgres.log 2>&1 &
started=$!
until_ready postgres.log 'ready to accept connections'
(as_user "$bin/createdb" -h "$db" -U svc svc)

key() { od -An -N 32 -tx1 /dev/urandom | tr -d ' \n'; }
SVC_API_KEY=$(key)
SVC_MASTER_KEY=$(key)
SVC_BOOTSTRAP_API_KEY=$SVC_API_KEY
SVC_DATABASE_URL="postgres://svc@$(echo "$db" | sed 's|/|%2F|g')/svc"
export SVC_DATABASE_URL SVC_MASTER_KEY SVC_BOOTSTRAP_API_KEY

for n in 1 2 3; do
  # One address for all of them, as behind a load balancer: it is the issuer of the receipts.
  "$svc" serve --port 0 --public-url http://localhost --dev --no-profile --drain 0 -o json >"$n.out" 2>"$n.log" &
  started="$! $started"
  echo "pid$n=$!" >>env
done
for n in 1 2 3; do
  until_ready "$n.out" ready
  echo "node$n=$(sed -n 's/.*"base_url":"\([^"]*\)".*/\1/p' "$n.out")" >>env
done
{ echo "nodes=$$"; echo "export SVC_API_KEY=$SVC_API_KEY SVC_CONFIG_DIR=$folder/config"; } >>env
(umask 077; cat env >"$here/nodes.env")
echo "$(sed -n 's/^\(node[123]\)=/  \1  /p' env)
Use them in another terminal: . ./nodes.env
Ctrl-C stops them and removes everything."
wait
