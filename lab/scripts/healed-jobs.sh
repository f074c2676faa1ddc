#!/usr/bin/env bash
# A real training job on two nodes of this machine, hung on purpose and healed: two network and process namespaces joined
# by a data link, in each a collector and an actuator, one broker, one healer in mode enforce, and a torch.distributed job
# (gloo, lab/jobs/train.py) under torchrun on both nodes, which are the whole cluster. Again and again one rank is stopped
# (SIGSTOP). Asserts from the outside:
#   - the healer names the rank, keeps evidence, has the rank's process killed, and torchrun starts the job again in place;
#   - the job goes on from its checkpoint, and the incident is resolved, with every guard's answer in its timeline;
#   - no other process was touched; while the local stop file is there nothing is done, and a person is told why.
# The time to train again is from SIGSTOP to the first new step after the relaunch. What PyTorch does by itself is stated
# beside it: nothing before the timeout of its process group, 30 minutes for gloo and 10 for NCCL, and not waited for.
# Needs root, iproute2, util-linux, openssl and python3-torch. Leaves nothing behind.
# Usage: healed-jobs.sh [--times N] [--keep-logs DIR]
set -euo pipefail

times=1
if [ "${1:-}" = --times ]; then
  times=$2
  shift 2
fi
# shellcheck source=nodes.bash
. "$(dirname "${BASH_SOURCE[0]}")/nodes.bash"
keep_logs "$@"

readonly learn=30   # seconds that the job trains before a rank is stopped
readonly limit=45   # seconds: half of all relaunches must train again within
readonly patience=120
job=healed

find_python() {
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import torch.distributed as d; exit(not d.is_gloo_available())' 2>/dev/null && return
  done
  echo "$script: no python3 with torch and its gloo backend; on Debian: apt-get install python3-torch" >&2
  exit 2
}

keys() {
  (umask 077; openssl genpkey -algorithm ed25519 -out "$work/grant.pem" 2>/dev/null)
  openssl pkey -in "$work/grant.pem" -pubout -out "$work/grant.pub" 2>/dev/null
  cat >"$work/playbooks.yaml" <<YAML
modes: {job-hang: enforce}
# The same job is hung again and again here, on purpose.
limits: {attempts-per-job-a-day: 50, attempts-per-incident: 50}
playbooks:
  - name: hang
    kind: job-hang
    mode: enforce
    why: a job hangs
    steps:
      - {action: collect-evidence, timeout: 30s}
      - {action: restart-ranks, when: {launcher: [torchrun]}, timeout: 60s, cooldown: 0s, attempts: 2, verify: {within: 3m, for: 1m}}
YAML
}
actuator() { # actuator NODE NAMESPACE
  mkdir -p "$work/$1-state"
  cat >"$work/$1-actuator.yaml" <<YAML
node: $1
kafka:
  bootstrap-servers: 10.77.0.1:9092
actions: [look, collect-evidence, restart-ranks]
grant-keys: {healer: $work/grant.pub}
stop-file: $work/stop
state-folder: $work/$1-state
YAML
  start "$1-actuator" "$2" "$unhang" actuator --config "$work/$1-actuator.yaml"
}
launch() { # the job, on both nodes
  local rank
  for rank in 0 1; do
    start "$job-$rank" "${node[rank]}" env GLOO_SOCKET_IFNAME=data0 OMP_NUM_THREADS=1 \
      PYTHONPATH="$here/../../collector/src/main/python" PYTHONDONTWRITEBYTECODE=1 \
      "$python" -m torch.distributed.run --redirects 1 --tee 1 --nnodes 2 --nproc_per_node 1 --node_rank $rank \
      --rdzv_id run-1 --max_restarts 100 --monitor_interval 1 --master_addr 10.78.1.2 --master_port 29511 \
      "$here/../jobs/train.py" --heartbeats --job $job --step-seconds 0.3 --checkpoint "$work/checkpoint.pt"
    agent[rank]=$started
  done
}
count() { grep -cF -- "$2" "$logs/$job-$1.log" || true; } # count RANK WORDS
until_count() { # until_count RANK WORDS N SECONDS
  local end=$((SECONDS + $4))
  until [ "$(count "$1" "$2")" -ge "$3" ]; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.2
  done
}
last_at() { # last_at RANK WORDS: the time that stands in the last line with these words
  grep -F -- "$2" "$logs/$job-$1.log" | tail -n 1 | grep -oE '[0-9]{10}\.[0-9]{3}' | head -n 1
}
incidents() { cli incidents --all --json 2>/dev/null || true; }
until_judged() { # until_judged SECONDS EXPRESSION
  local end=$((SECONDS + $1))
  until [ "$(incidents | judge "$2")" = True ]; do
    [ $SECONDS -lt $end ] || return 1
    sleep 1
  done
}

heal_once() { # heal_once N
  local n=$1 since pid other before again id
  sleep "$learn"
  before=$(count 0 "trains again")
  pid=$(child_of "${agent[1]}")
  other=${agent[0]}
  since=$(date +%s.%3N)
  kill -STOP "$pid"
  say "$n: rank 1 is stopped"
  until_count 0 "trains again" $((before + 1)) $patience || {
    cli incidents --all || true
    for id in $(incidents | judge '" ".join(i["id"] for i in incidents)'); do cli explain "$id" || true; done
    fail "the job does not train again within $patience s"
  }
  again=$(python3 -c "import sys; print('%.1f' % (float(sys.argv[1]) - float(sys.argv[2])))" "$(last_at 0 'trains again')" "$since")
  say "$n: it trains again after $again s"
  echo "$again" >>"$work/times"
  kill -0 "${agent[1]}" && kill -0 "$other" || fail "a launcher has ended"
  ! kill -0 "$pid" 2>/dev/null || [ "$(child_of "${agent[1]}")" != "$pid" ] || fail "the stopped rank is still there"
  until_judged 120 "sum(i['kind'] == 'job-hang' and i['state'] == 'resolved' for i in incidents) == $n" ||
    { cli incidents --all || true; fail "the incident is not resolved"; }
  id=$(incidents | judge 'next(i["id"] for i in sorted(incidents, key=lambda i: i["since"], reverse=True) if i["kind"] == "job-hang")')
  cli explain "$id" >"$logs/explain-$n.txt" || true
  grep -q "restart-ranks on node-1" "$logs/explain-$n.txt" || fail "the timeline of $id does not tell of the restart"
  grep -q "guard blast-radius allows" "$logs/explain-$n.txt" || fail "the timeline of $id does not tell what the guards said"
}
stopped_by_hand() { # with the local stop file nothing is done
  local pid
  sleep "$learn"
  touch "$work/stop"
  pid=$(child_of "${agent[1]}")
  kill -STOP "$pid"
  say "rank 1 is stopped while the stop file is there"
  until_judged 90 "any(i['kind'] == 'job-hang' and i['state'] == 'escalated' for i in incidents)" ||
    { cli incidents --all || true; fail "nobody is called while the stop file is there"; }
  [ "$(ps -o stat= -p "$pid" | cut -c1)" = T ] || fail "the stopped rank was touched"
  rm "$work/stop"
  kill -CONT "$pid"
  say "a person was called, and nothing was touched"
}

main() {
  local node=("uh-n0-$$" "uh-n1-$$") agent=() rank
  find_python
  keys
  say "namespaces"
  make_core
  for rank in 0 1; do make_node "${node[rank]}"; done
  join "${node[0]}" "${node[1]}" 10.78.1
  say "broker, healer, collectors, actuators"
  healer_more="policy: {playbooks-file: $work/playbooks.yaml, grant-key-file: $work/grant.pem}"
  broker_and_healer
  for rank in 0 1; do
    collector "node-$rank" "${node[rank]}"
    actuator "node-$rank" "${node[rank]}"
  done
  watched 2 90
  say "the job, on both of two nodes"
  launch
  until_count 0 "step 0," 1 90 || fail "the job does not train"
  for ((n = 1; n <= times; n++)); do heal_once "$n"; done
  stopped_by_hand
  say "time to train again, from SIGSTOP to the first new step, s: $(sort -n "$work/times" | tr '\n' ' ')"
  python3 - "$work/times" $limit <<'PY' || fail "half of the relaunches took longer"
import statistics, sys
times = [float(line) for line in open(sys.argv[1])]
print("p50 %.1f s, worst %.1f s, of %d; PyTorch by itself: 1800 s (gloo's timeout; NCCL's is 600 s), not waited for"
      % (statistics.median(times), max(times), len(times)))
sys.exit(statistics.median(times) > float(sys.argv[2]))
PY
  say "PASSED in $SECONDS s"
}
main
exit
