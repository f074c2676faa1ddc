#!/usr/bin/env bash
# A real Slurm whose job is hung on purpose, and healed: three nodes in namespaces, each with its slurmd and its collector,
# a job of two ranks on two of them (lab/jobs/train.py, gloo), one broker and one healer that may drain and requeue. Rank 1
# is stopped (SIGSTOP). Asserts from the outside: its node is drained with our reason, the job is requeued, starts again on
# the other two nodes and trains; the incident is resolved and the node given back.
# Needs root, iproute2, util-linux, python3-torch, slurmctld, slurmd, slurm-client and munge. Leaves nothing behind.
# Usage: slurm-healing.sh [--by-hand] [--keep-logs DIR]
#   --by-hand: the script drains and requeues itself, to see that Slurm and the job do their part
set -euo pipefail

by_hand=no
[ "${1:-}" != --by-hand ] || { by_hand=yes; shift; }
# shellcheck source=nodes.bash
. "$(dirname "${BASH_SOURCE[0]}")/nodes.bash"
# shellcheck source=slurm.bash
. "$(dirname "${BASH_SOURCE[0]}")/slurm.bash"
slurm_needs
keep_logs "$@"
trap 'slurm_down; cleanup' EXIT

readonly learn=30 # seconds that the job trains before it is hung
readonly step=0.3 # seconds
nodes=(node-1 node-2 node-3)

ns_of() { printf 'uh-%s-%s' "$1" $$; }
find_python() { # the python that has torch: Debian's, though another may come first
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import torch.distributed as d; exit(not d.is_gloo_available())' 2>/dev/null && return
  done
  echo "$script: no python3 with torch and its gloo backend; on Debian: apt-get install python3-torch" >&2
  exit 2
}

# ---- Slurm

slurm_start() {
  local node specs=()
  for node in "${nodes[@]}"; do specs+=("$node=$(address "$node"):6818"); done
  slurm_write "$work/slurm" 10.77.0.1 6817 "${specs[@]}"
  start munged "$core" munged --foreground --force --num-threads=2 --key-file="$slurm/munge/key" \
    --socket="$slurm/munge/socket" --pid-file="$slurm/munge/pid" --log-file="$slurm/munge/log" \
    --seed-file="$slurm/munge/seed"
  until [ -S "$slurm/munge/socket" ]; do sleep 0.1; done
  start slurmctld "$core" slurmctld -D -f "$slurm/slurm.conf"
  for node in "${nodes[@]}"; do
    start "slurmd-$node" "$(ns_of "$node")" slurmd -D -N "$node" -f "$slurm/slurm.conf"
  done
  (in_slurm; slurm_up ${#nodes[@]} 30) || fail "slurm has not all nodes"
}
address() { # address NODE
  in_ns "$(ns_of "$1")" ip -4 -o addr show dev mgmt0 | sed -n 's/.* inet \([0-9.]*\).*/\1/p'
}
# Within a subshell: squeue and the like then reach the controller, which listens in the core namespace.
in_slurm() {
  local program
  for program in sinfo squeue scontrol sbatch; do
    eval "$program() { ip netns exec '$core' $program \"\$@\"; }"
  done
}
healer_may() { # what the healer's file says beside what all have: nodes.bash appends it
  openssl genpkey -algorithm ed25519 -out "$work/grant.pem" 2>/dev/null
  openssl pkey -in "$work/grant.pem" -pubout -out "$work/grant.pub.pem"
  cat >"$work/playbooks.yaml" <<'YAML'
playbooks:
  - name: job-hang
    kind: job-hang
    mode: enforce
    why: a job of Slurm hangs
    steps:
      - {action: drain, when: {suspect: medium, launcher: [slurm]}, timeout: 1m, verify: {within: 15s}}
      - {action: requeue, when: {launcher: [slurm]}, timeout: 3m, verify: {within: 5m, for: 20s}}
YAML
  cat >"$work/healer-more.yaml" <<YAML
policy:
  playbooks-file: $work/playbooks.yaml
  grant-key-file: $work/grant.pem
scheduler:
  every: 2s
  actions: [drain, undrain, requeue]
  grant-keys:
    healer: $work/grant.pub.pem
  slurm:
    enabled: true
    config-file: $slurm/slurm.conf
YAML
}
submit() { # the job, as its owner would: sets `job` and `log`
  cat >"$work/train.sbatch" <<'BATCH'
#!/bin/bash
echo "batch: start ${SLURM_RESTART_COUNT:-0} on $SLURM_JOB_NODELIST"
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR MASTER_PORT=$((29500 + ${SLURM_RESTART_COUNT:-0}))
MASTER_ADDR=$(scontrol show node "$first" | sed -n 's/.*NodeAddr=\([0-9.]*\).*/\1/p')
export WORLD_SIZE=$SLURM_NTASKS GLOO_SOCKET_IFNAME=mgmt0 OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
exec srun --kill-on-bad-exit bash -c 'export RANK=$SLURM_PROCID; exec "$@"' rank "$@"
BATCH
  job=$(in_slurm; PYTHONPATH=$(cd "$here/../../collector/src/main/python" && pwd) sbatch --parsable --requeue \
    -N 2 --ntasks-per-node=1 --open-mode=append -o "$logs/job.log" --chdir "$work" "$work/train.sbatch" \
    "$python" "$(cd "$here/../jobs" && pwd)/train.py" --step-seconds "$step" --heartbeats --job train)
  log=$logs/job.log
}
job_is() { (in_slurm; squeue -h -t all -j "$job" -O 'State:|,RestartCnt:|,NodeList:|' 2>/dev/null); }
node_is() { (in_slurm; sinfo -h -N -n "$1" -O 'StateComplete:|,User:|,Reason:|'); }
seen() { # seen SECONDS WHAT COMMAND...: waits until it is true
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "$what: not within the time; job: $(job_is); nodes: $(in_slurm; sinfo -N -l)"
    sleep 0.3
  done
}
said() { grep -qE -- "$1" "$log" 2>/dev/null; }                      # said REGEX
trains_again() { sed -n '/^batch: start 1/,$p' "$log" | grep -q 'rank 0: step 100,'; }
pid_of() { # pid_of RANK: as seen from here
  local environ
  for environ in $(grep -lzxF "SLURM_PROCID=$1" /proc/[0-9]*/environ 2>/dev/null); do
    if tr '\0' ' ' <"${environ%environ}cmdline" | grep -q '^[^ ]*python[^ ]* [^ ]*train.py '; then
      echo "$environ" | cut -d/ -f3
      return
    fi
  done
}

main() { # a function, so that the script may be edited while it runs
  local node hung since
  find_python
  say "namespaces"
  make_core
  for node in "${nodes[@]}"; do make_node "$(ns_of "$node")"; done
  say "slurm"
  slurm_start
  if [ $by_hand = no ]; then
    say "broker, healer and collectors"
    healer_may
    broker_and_healer
    for node in "${nodes[@]}"; do collector "$node" "$(ns_of "$node")"; done
    watched ${#nodes[@]} 90
  fi
  submit
  seen 60 "the job trains" said 'rank 0: step 0,'
  hung=$(job_is | cut -d'|' -f3 | sed 's/.*[-,]\([0-9]*\)\]$/node-\1/')
  say "job $job trains: $(job_is), rank 1 is on $hung"
  [ $by_hand = yes ] || sleep "$learn"
  since=$(date +%s%3N)
  kill -STOP "$(pid_of 1)"
  say "rank 1 gets SIGSTOP"
  if [ $by_hand = yes ]; then
    sleep 2
    (in_slurm; scontrol update "NodeName=$hung" State=DRAIN "Reason=unhang: by hand"; scontrol requeue "$job")
  fi
  seen 120 "rank 1's node is drained by us" drained_by_us "$hung"
  say "$hung: $(node_is "$hung"), $(seconds_since "$since") s after SIGSTOP"
  seen 120 "the job starts again" said "^batch: start 1 on"
  say "$(grep '^batch: start 1' "$log"), $(seconds_since "$since") s after SIGSTOP"
  ! grep '^batch: start 1' "$log" | grep -q "$hung\b" || fail "it runs on the drained node again"
  seen 60 "the first step after that" first_step_again
  say "first step after it was started again: $(seconds_since "$since") s after SIGSTOP"
  seen 120 "it trains" trains_again
  if [ $by_hand = no ]; then
    seen 180 "the incident is resolved" incident_is resolved
    say "resolved $(seconds_since "$since") s after SIGSTOP"
    seen 120 "$hung is given back" is_up "$hung"
    say "$hung is given back: $(seconds_since "$since") s after SIGSTOP"
  fi
  [ "$(job_is | cut -d'|' -f2)" = 1 ] || fail "it was started again $(job_is | cut -d'|' -f2) times and not once"
  say "PASSED in $SECONDS s"
}
drained_by_us() { node_is "$1" | grep -qE '\+drain[^|]*\|root\|unhang: '; }
is_up() { node_is "$1" | grep -qE '^(idle|mixed|allocated)\|Unknown\|none'; }
incident_is() { cli incidents --all --json 2>/dev/null | judge "any(i['kind'] == 'job-hang' and i['state'] == '$1' for i in incidents)" | grep -q True; }
first_step_again() { sed -n '/^batch: start 1/,$p' "$log" | grep -q 'rank 0: step 0,'; }
seconds_since() { python3 -c 'import sys, time; print("%.1f" % (time.time() - int(sys.argv[1]) / 1000))' "$1"; }
main
exit
