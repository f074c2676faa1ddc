# Nodes on this machine, as real as they get; sourced by the scripts beside it. Each node is a network namespace and a
# process namespace of its own, with a management link to a core namespace where one broker and one healer run. Sets
# `core`, `work` (a temporary directory) and `logs`; nothing of it stays behind, whatever ends the script.
# Needs root, iproute2, util-linux and python3. The script that sources this has said `set -euo pipefail`.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
script=$(basename "$0")
unhang=$here/../../unhang
[ "$(id -u)" = 0 ] || { echo "$script: needs root to make network namespaces" >&2; exit 2; }

core=uh-core-$$
work=$(mktemp -d)
logs=$work
namespaces=()
declare -A init=() # namespace: process id of the first process of its process namespace
pids=()

cleanup() {
  trap - EXIT INT TERM
  [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
  sleep 1
  # With its first process a process namespace ends, and all that runs in it.
  [ ${#init[@]} = 0 ] || kill -9 "${init[@]}" 2>/dev/null || true
  local ns p
  for ns in "${namespaces[@]}"; do
    for p in $(ip netns pids "$ns" 2>/dev/null); do kill -9 "$p" 2>/dev/null || true; done
    ip netns del "$ns" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

say() { printf '%s  %s\n' "$(date +%T)" "$*"; }
fail() {
  say "FAILED: $*"
  local log
  for log in "$logs"/*.log; do echo "--- ${log##*/}"; tail -n 25 "$log"; done
  exit 1
}
keep_logs() { # keep_logs [--keep-logs DIR]
  [ "${1:-}" = --keep-logs ] || return 0
  mkdir -p "$2"
  logs=$(cd "$2" && pwd)
  rm -f "$logs"/*.log
}

# ---- processes in namespaces

door() { # door NAMESPACE: sets `door` to the command that leads into it
  if [ -n "${init[$1]:-}" ]; then
    door=(nsenter -t "${init[$1]}" -m -n -p --)
  else
    door=(ip netns exec "$1")
  fi
}
in_ns() { # in_ns NAMESPACE COMMAND...
  local door
  door "$1"
  shift
  "${door[@]}" "$@"
}
child_of() { # child_of PID: the process that PID starts, as soon as it has
  local child end=$((SECONDS + 10))
  until child=$(cat "/proc/$1/task/$1/children" 2>/dev/null) && [ -n "$child" ]; do
    { [ $SECONDS -lt $end ] && kill -0 "$1" 2>/dev/null; } || return 1
    sleep 0.05
  done
  printf '%s' "${child%% *}"
}
start() { # start NAME NAMESPACE COMMAND...: in the background, its words in NAME.log; sets `started` to its process id
  local name=$1 ns=$2 door
  shift 2
  door "$ns"
  "${door[@]}" "$@" >>"$logs/$name.log" 2>&1 &
  started=$!
  disown "$started" # bash would tell of its end
  pids+=("$started")
  [ -z "${init[$ns]:-}" ] || started=$(child_of "$started") || fail "$name did not start"
}
free_of() { # waits until a TCP port answers: free_of NAMESPACE HOST PORT SECONDS
  in_ns "$1" python3 - "$2" "$3" "$4" <<'PY'
import socket, sys, time
end = time.monotonic() + float(sys.argv[3])
while True:
    try:
        socket.create_connection((sys.argv[1], int(sys.argv[2])), 1).close(); break
    except OSError:
        if time.monotonic() > end: sys.exit("nothing listens on %s:%s" % (sys.argv[1], sys.argv[2]))
        time.sleep(0.2)
PY
}

# ---- networks

make_core() { # the namespace of broker and healer, with the bridge that nodes are managed through
  ip netns add "$core"
  namespaces+=("$core")
  ip -n "$core" link set lo up
  ip -n "$core" link add br0 type bridge
  ip -n "$core" addr add 10.77.0.1/24 dev br0
  ip -n "$core" link set br0 up
}
make_node() { # make_node NAMESPACE: a node, with a management link to the core
  local ns=$1 n=$((${#namespaces[@]} + 1)) outside
  ip netns add "$ns"
  namespaces+=("$ns")
  ip netns exec "$ns" unshare --pid --fork --kill-child --mount-proc sleep infinity &
  outside=$!
  disown "$outside"
  pids+=("$outside")
  init[$ns]=$(child_of "$outside") || fail "no process namespace for $ns"
  ip -n "$core" link add "mgmt$n" type veth peer name mgmt0 netns "$ns"
  ip -n "$core" link set "mgmt$n" master br0 up
  ip -n "$ns" link set lo up
  ip -n "$ns" addr add "10.77.0.$n/24" dev mgmt0
  ip -n "$ns" link set mgmt0 up
}
join() { # join NAMESPACE NAMESPACE NET: a data link between two nodes, NET.2 and NET.3
  ip -n "$1" link add data0 type veth peer name data0 netns "$2"
  ip -n "$1" addr add "$3.2/24" dev data0
  ip -n "$2" addr add "$3.3/24" dev data0
  ip -n "$1" link set data0 up
  ip -n "$2" link set data0 up
}

# ---- Unhang, and what its command line says

broker_and_healer() { # healer_more: further lines of its settings
  start broker "$core" "$unhang" broker --host 10.77.0.1 --port 9092 --data "$work/kafka"
  free_of "$core" 10.77.0.1 9092 60 || fail "the broker did not start"
  (umask 077; head -c 24 /dev/urandom | base64 | tr -d '\n=+/' >"$work/token")
  cat >"$work/healer.yaml" <<YAML
kafka:
  bootstrap-servers: 10.77.0.1:9092
http:
  port: 8080
  token-file: $work/token
${healer_more:-}
YAML
  [ ! -e "$work/healer-more.yaml" ] || cat "$work/healer-more.yaml" >>"$work/healer.yaml"
  start healer "$core" "$unhang" healer --config "$work/healer.yaml"
  free_of "$core" 127.0.0.1 8080 60 || fail "the healer did not start"
}
collector() { # collector NODE NAMESPACE
  cat >"$work/$1.yaml" <<YAML
node: $1
kafka:
  bootstrap-servers: 10.77.0.1:9092
serve:
  socket: $work/$1.sock
YAML
  start "$1" "$2" "$unhang" collector --config "$work/$1.yaml"
}
cli() { in_ns "$core" env UNHANG_URL=http://127.0.0.1:8080 UNHANG_TOKEN="$(cat "$work/token")" "$unhang" "$@"; }
watched() { # watched COUNT SECONDS: waits until so many nodes are watched
  local end=$((SECONDS + $2))
  until cli status --json 2>/dev/null | grep -q "\"watched\": *$1\b"; do
    [ $SECONDS -lt $end ] || { cli status || true; fail "$1 nodes are not watched within $2 s"; }
    sleep 0.5
  done
}
judge() { # judge EXPRESSION: of Python, over the list `incidents` in the JSON on stdin; prints its value
  python3 -c '
import json, sys
text = sys.stdin.read()
incidents = json.loads(text)["incidents"] if text.strip() else []
print(eval(sys.argv[1]))' "$1"
}
