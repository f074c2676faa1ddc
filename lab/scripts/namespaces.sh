#!/usr/bin/env bash
# Two nodes on this machine, as real as they get: two namespaces joined by a veth pair, a collector in each, one broker
# and one healer in a third, a traffic source between the nodes. Breaks things and asserts from the outside, with the
# command line a user has:
#   1. the data link of node-a goes down:  a nic-fault that names node-a within 15 s; resolved after the link is up
#   2. the collector of node-b is killed:  node-silent for node-b within 15 s, and for no other node
#   3. chronyd of node-a follows a wrong clock: clock-offset with the right sign and size (within 10 %)
# Needs root, iproute2, chrony and python3. Leaves nothing behind. Usage: namespaces.sh [--keep-logs DIR]
set -euo pipefail

# shellcheck source=nodes.bash
. "$(dirname "${BASH_SOURCE[0]}")/nodes.bash"
keep_logs "$@"

a=uh-a-$$ b=uh-b-$$

# incidents EXPRESSION: over all incidents. One of them, or a healer that is silent, makes the command exit 1; only what
# it prints counts.
incidents() { { cli incidents --all --json || true; } | judge "$1"; }
wait_for() { # wait_for SECONDS WHAT EXPRESSION
  local end=$((SECONDS + $1)) since=$SECONDS
  while [ "$(incidents "$3")" != True ]; do
    [ $SECONDS -lt $end ] || { cli incidents --all || true; fail "not within $1 s: $2"; }
    sleep 0.5
  done
  say "ok after $((SECONDS - since)) s: $2"
}

say "namespaces"
make_core
make_node "$a"
make_node "$b"
join "$a" "$b" 10.78.0

say "broker and healer"
broker_and_healer

# Clocks: `true` serves this machine's time, `wrong` serves it shifted once it is told to, node-a's chronyd follows
# `wrong`. None of them touches a clock (-x).
# `wrong` follows `true` with an offset, and since -x leaves its machine's clock alone, what it serves is wrong by it.
chrony() { # NAME NAMESPACE PORT CMDPORT LINES...
  local name=$1 ns=$2 port=$3 cmd=$4; shift 4
  mkdir -p "$work/$name"
  chmod 750 "$work/$name"
  printf '%s\n' "port $port" "cmdport $cmd" "bindcmdaddress 127.0.0.1" "bindcmdaddress $work/$name/socket" \
    "pidfile $work/$name/pid" "allow" "$@" >"$work/$name/chrony.conf"
  start "$name" "$ns" chronyd -x -d -u root -f "$work/$name/chrony.conf"
}

say "collectors"
true_server="server 10.77.0.1 port 11123 iburst minpoll 0 maxpoll 0"
chrony true "$core" 11123 11323 "local stratum 2"
chrony wrong "$core" 12123 12323 "$true_server"; wrong=$started
follow_wrong="server 10.77.0.1 port 12123 iburst minpoll 0 maxpoll 0"
chrony chrony-a "$a" 0 323 "$follow_wrong"; chrony_a=$started
collector node-a "$a"; collector_a=$started
collector node-b "$b"; collector_b=$started

say "traffic over the data link"
start sink "$b" python3 -c '
import socket
s = socket.create_server(("10.78.0.3", 5000))
while True:
    c, _ = s.accept()
    c.settimeout(30)
    try:
        while c.recv(1 << 16): pass
    except OSError: pass'
free_of "$b" 10.78.0.3 5000 10
start source "$a" python3 -c '
import socket, time
while True:
    try:
        s = socket.create_connection(("10.78.0.3", 5000), 2)
        s.settimeout(2)
        while True:
            s.sendall(b"x" * (1 << 16)); time.sleep(0.01)
    except OSError: time.sleep(0.2)'

say "both nodes are watched"
watched 2 60
sleep 12 # traffic flows and is learned; nothing may be found meanwhile
[ "$(incidents 'len(incidents)')" = 0 ] || { cli incidents --all || true; fail "an incident while all is well"; }

say "1. the data link of node-a goes down"
in_ns "$a" ip link set data0 down
wait_for 15 "a fault that names node-a" 'any(
    i["kind"] in ("nic-fault", "link-fault", "job-hang") and "node-a" in json.dumps(i) and i["state"] != "suspected"
    for i in incidents)'
in_ns "$a" ip link set data0 up
wait_for 90 "resolved after the link is up" 'bool(incidents) and all(
    i["state"] in ("resolved", "dismissed") for i in incidents) and any(i["state"] == "resolved" for i in incidents)'

say "2. the collector of node-b is killed"
kill -9 "$collector_b"
wait_for 15 "node-silent for node-b, confirmed" 'any(
    i["kind"] == "node-silent" and i["subject"] == "node:node-b" and i["state"] != "suspected" for i in incidents)'
[ "$(incidents 'any(i["kind"] == "node-silent" and "node-b" not in i["subject"] for i in incidents)')" = False ] ||
  fail "another node is called silent"
collector node-b "$b"; collector_b=$started

say "3. node-a's clock source is wrong: node-a is 0.35 s behind it"
# Both daemons start anew: a running one would take the step for a drift of its own clock, and extrapolate it for minutes.
kill "$wrong" "$chrony_a"
sleep 1
chrony wrong "$core" 12123 12323 "$true_server offset 0.35"
sleep 4
chrony chrony-a "$a" 0 323 "$follow_wrong"
wait_for 60 "clock-offset of node-a of -0.35 s within 10 %" 'any(
    i["kind"] == "clock-offset" and i["subject"] == "node:node-a" and i["state"] != "suspected"
    and -0.385 <= i["figures"]["offset_seconds"] <= -0.315 for i in incidents)'

wait_for 90 "node-b resolved after its collector is back" 'all(
    i["state"] == "resolved" for i in incidents if i["kind"] == "node-silent")'

say "goodbye"
kill "$collector_a" "$collector_b"
sleep 14
[ "$(incidents 'any(i["kind"] == "node-silent" and i["state"] not in ("resolved", "dismissed") for i in incidents)')" = False ] ||
  fail "a node whose collector said goodbye is called silent"
say "PASSED"
