# Sourced by the scripts in this directory's parent. Sets $root and a few functions.
# shellcheck shell=bash disable=SC2034
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export LC_ALL=C.UTF-8

say() { printf '\n==> %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# as_root COMMAND...: runs it as root, by sudo where needed.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "run this as root, or install sudo ($1 needs it)"
  fi
}

# The Python of Debian, so that what is first in PATH does not matter.
python=/usr/bin/python3

# venv DIR LOCKFILE: a virtual environment with exactly the packages of the lock file. Quick when it
# is there already and the lock has not changed.
venv() {
  local dir=$1 lock=$2
  if ! cmp -s "$lock" "$dir/.lock"; then
    rm -rf "$dir"
    "$python" -m venv "$dir"
    "$dir/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$lock"
    cp "$lock" "$dir/.lock"
  fi
}

# free_ports N: N ports that nothing listens on, below the range of outgoing connections.
free_ports() {
  "$python" - "$1" <<'PY'
import random, socket, sys
kept = []
while len(kept) < int(sys.argv[1]):
    s = socket.socket()
    try:
        s.bind(("127.0.0.1", random.randrange(20000, 32000)))
        kept.append(s)
    except OSError:
        s.close()
print(*(s.getsockname()[1] for s in kept))
PY
}

# wait_http URL SECONDS: until the URL answers 2xx.
wait_http() {
  local url=$1 deadline=$((SECONDS + $2))
  until curl -sf -o /dev/null --max-time 2 "$url"; do
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.1
  done
}
