#!/usr/bin/env bash
# Real training jobs on this machine, hung on purpose: pairs of nodes joined by a data link of their own, a collector in
# each, one broker and one healer, and on each pair a torch.distributed job (gloo) of two ranks, lab/jobs/train.py.
# Asserts from the outside, with the command line a user has; each case with heartbeats and without:
#   stop  a rank is stopped (SIGSTOP): a job-hang suspected within 10 s and confirmed within 30 s, the rank and its node
#         first among the suspects; resolved after SIGCONT
#   loop  a rank loops on its CPU: confirmed within 90 s (190 s without heartbeats), that rank first
#   save  rank 0 saves a checkpoint for a minute (torch.save), announced by itself: nothing is confirmed
#   unannounced-save  the same, and nobody says so: nothing is confirmed
# Times are those of the log. The table at the end says what was measured.
# Needs root, iproute2, util-linux and python3-torch. Leaves nothing behind.
# Usage: hung-jobs.sh [--short | --only NAME] [--keep-logs DIR]
#   --short: stop with heartbeats, unannounced-save without; NAME: as in the table, -without is without heartbeats
set -euo pipefail

wanted='.*'
case ${1:-} in
  --short) wanted='stop|unannounced-save-without'; shift ;;
  --only) wanted=$2; shift 2 ;;
esac
# shellcheck source=nodes.bash
. "$(dirname "${BASH_SOURCE[0]}")/nodes.bash"
keep_logs "$@"

readonly learn=45  # seconds that a job trains before anything happens to it
readonly calm=20   # seconds that nothing may be confirmed after a checkpoint
readonly save=60   # seconds that it takes
readonly step=0.3  # seconds
rows=$work/rows
broken=$work/broken
: >"$rows"
: >"$broken"

find_python() { # the python that has torch: Debian's, though another may come first
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import torch.distributed as d; exit(not d.is_gloo_available())' 2>/dev/null && return
  done
  echo "$script: no python3 with torch and its gloo backend; on Debian: apt-get install python3-torch" >&2
  exit 2
}

# ---- jobs

ns_of() { printf 'uh-%s%s-%s' "$1" "$2" $$; } # ns_of PAIR RANK
job() { # job PAIR NAME PORT yes|no python3|torchrun OPTIONS...: starts its ranks; yes: with heartbeats. Sets `ranks`, `subject`
  local pair=$1 name=$2 port=$3 beats=$4 by=$5 rank how
  shift 5
  # Without heartbeats a job is known by its master; with them by its name, once the first has come.
  subject=("job:10.78.$pair.2:$port@")
  if [ "$beats" = yes ]; then
    subject+=("job:$name@")
    set -- --heartbeats --job "$name" "$@"
  else
    set -- --no-heartbeats "$@"
  fi
  log=$logs/$name
  for rank in 0 1; do
    if [ "$by" = torchrun ]; then
      how=("$python" -m torch.distributed.run --redirects 1 --tee 1 --nnodes 2 --nproc_per_node 1 --node_rank $rank
        --master_addr "10.78.$pair.2" --master_port "$port")
    else
      how=(env RANK=$rank WORLD_SIZE=2 MASTER_ADDR="10.78.$pair.2" MASTER_PORT="$port" "$python")
    fi
    start "$name-$rank" "$(ns_of "$pair" $rank)" env GLOO_SOCKET_IFNAME=data0 OMP_NUM_THREADS=1 \
      PYTHONPATH="$here/../../collector/src/main/python" PYTHONDONTWRITEBYTECODE=1 \
      "${how[@]}" "$here/../jobs/train.py" --step-seconds "$step" "$@"
    ranks[rank]=$started
  done
  said 0 60 "step 0," || return 1
  [ "$by" != torchrun ] || for rank in 0 1; do ranks[rank]=$(child_of "${ranks[rank]}"); done
}
said() { # said RANK SECONDS WORDS: waits until the rank has printed them
  local end=$((SECONDS + $2))
  until grep -qF -- "$3" "$log-$1.log"; do
    [ $SECONDS -lt $end ] || { bad "rank $1 did not print \"$3\" within $2 s"; return 1; }
    sleep 0.5
  done
}
go_on() { # go_on PID: also the nsenter that waits for it, which stops itself when its child is stopped
  kill -CONT "$(ps -o ppid= -p "$1" | tr -d ' ')" "$1"
}
end_job() { # in order, as a job that is done; a rank that cannot is killed, and its peer with it
  local end=$((SECONDS + 10))
  kill -TERM "${ranks[@]}" 2>/dev/null || true
  while kill -0 "${ranks[@]}" 2>/dev/null && [ $SECONDS -lt $end ]; do sleep 0.5; done
  kill -KILL "${ranks[@]}" 2>/dev/null || true
}

# ---- what is asserted

bad() {
  say "$name: FAILED: $*"
  echo "$name: $*" >>"$broken"
}
row() { printf '%s|' "$@" >>"$rows"; echo >>"$rows"; }
pause() { # pause SECONDS
  local end=$((SECONDS + $1))
  while [ $SECONDS -lt $end ]; do sleep 0.5; done
}
follow_incidents() { # one question for all cases, since each costs a start of Java
  while true; do
    cli incidents --all --json >"$work/asked" 2>/dev/null || true
    mv "$work/asked" "$work/incidents"
    sleep 1
  done
}
# ours EXPRESSION: over the incidents of this job, `incidents`
ours() { judge "(lambda incidents: $1)([
  {**i, 'was_confirmed': i['state'] not in ('suspected', 'dismissed')}
  for i in incidents if i['subject'].startswith(tuple('${subject[*]}'.split()))])" <"$work/incidents"; }
seen() { # seen SECONDS EXPRESSION
  local end=$((SECONDS + $1))
  until [ "$(ours "$2")" = True ]; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.5
  done
}
quiet() { # nothing was confirmed so far
  local confirmed
  confirmed=$(ours '"; ".join("%s is %s: %s" % (i["id"], i["state"], " ".join(i["evidence"])) for i in incidents if i["was_confirmed"])')
  [ -z "$confirmed" ] || { bad "$1, and yet $confirmed"; return 1; }
}
# after SINCE STATE <explain: seconds from SINCE (ms since 1970) until the incident first was in that state
after() {
  python3 -c '
import datetime, json, sys
at = [e["at"] for e in json.load(sys.stdin)["timeline"] if e["to"] == sys.argv[2]]
then = datetime.datetime.fromisoformat(at[0].replace("Z", "+00:00")).timestamp() if at else float("nan")
print("%.1f" % (then - float(sys.argv[1]) / 1000))' "$@"
}
within() { # within SECONDS LIMIT WHAT
  python3 -c 'import sys; sys.exit(not float(sys.argv[1]) <= float(sys.argv[2]))' "$1" "$2" || bad "$3 after $1 s, not within $2 s"
}

# ---- the cases

hang() { # hang SIGNAL RANK SECONDS-TO-SUSPECT SECONDS-TO-CONFIRM: breaks the rank, sets `id` and writes the row
  local signal=$1 rank=$2 since confirmed="any(i['was_confirmed'] for i in incidents)"
  quiet "the job trains" || true
  since=$(date +%s%3N)
  kill "-$signal" "${ranks[$rank]}"
  say "$name: rank $rank gets $signal"
  if ! seen $(($4 + 15)) "$confirmed"; then
    bad "nothing is confirmed $(($4 + 15)) s after $signal of rank $rank; incidents: $(ours \
      '[(i["id"], i["state"], i["suspects"][:1], i["evidence"]) for i in incidents]')"
    row "$name" - - - -
    return 1
  fi
  id=$(ours 'next(i["id"] for i in incidents if i["was_confirmed"])')
  local kind who suspect_s confirm_s nodes
  kind=$(ours 'next(i["kind"] for i in incidents if i["was_confirmed"])')
  who=$(ours 'next(" ".join(["rank %s on %s" % (s.get("rank"), s["node"]) for s in i["suspects"][:1]]) for i in incidents if i["was_confirmed"])')
  nodes=$(ours 'next(" ".join(sorted(i["nodes"])) for i in incidents if i["was_confirmed"])')
  cli explain "$id" --json >"$log-explain.json" || true
  suspect_s=$(after "$since" suspected <"$log-explain.json")
  confirm_s=$(after "$since" confirmed <"$log-explain.json")
  say "$name: $id suspected after $suspect_s s, confirmed after $confirm_s s, first suspect $who, nodes $nodes"
  row "$name" "$suspect_s" "$confirm_s" "$who" -
  [ "$kind" = job-hang ] || bad "the incident is a $kind and no job-hang"
  within "$suspect_s" "$3" suspected
  within "$confirm_s" "$4" confirmed
  [ "$who" = "rank $rank on node-$pair$rank" ] || bad "the first suspect is '$who' and not rank $rank on node-$pair$rank"
}
case_of() { # case_of CASE PAIR NAME PORT yes|no python3|torchrun
  local what=$1 pair=$2 name=$3 port=$4 beats=$5 by=$6 subject=() log id ranks=() options=()
  [[ $what != *save ]] || options=(--save-seconds "$save" --at-step "$(python3 -c "print(int($learn / $step))")")
  [ "$what" != save ] || options+=(--announce)
  say "$name: a job of two ranks on node-${pair}0 and node-${pair}1"
  if job "$pair" "$name" "$port" "$beats" "$by" "${options[@]}"; then "case_$what" || true; fi
  end_job
}
case_stop() {
  local since
  pause "$learn"
  hang STOP 1 10 30 || { go_on "${ranks[1]}"; return; }
  go_on "${ranks[1]}"
  since=$(date +%s%3N)
  if seen 90 "any(i['id'] == '$id' and i['state'] == 'resolved' for i in incidents)"; then
    cli explain "$id" --json >"$log-explain.json" || true
    since=$(after "$since" resolved <"$log-explain.json")
    say "$name: resolved $since s after SIGCONT"
    row "$name" "" "" "" "$since"
  else
    bad "not resolved 90 s after SIGCONT: $(ours '[(i["id"], i["state"], i["evidence"]) for i in incidents]')"
  fi
}
case_loop() {
  local limit=190
  [ "$beats" = no ] || limit=90
  pause "$learn"
  hang USR1 1 60 "$limit" || true
}
case_save() {
  said 0 $((learn + 60)) "saves before" || return
  say "$name: rank 0 saves"
  said 0 $((save + 60)) "saved" || return
  pause "$calm"
  quiet "rank 0 only saved a checkpoint" || true
  row "$name" "$(ours 'len(incidents) and "yes, %s" % incidents[0]["state"] or "no"')" "$(ours 'any(i["was_confirmed"] for i in incidents) and "YES" or "no"')" - -
}
case_unannounced-save() { case_save; }

# ---- the pairs; each runs its cases one after another

pairs_of() { # CASE PAIR NAME PORT HEARTBEATS BY
  awk -v wanted="^($wanted)\$" '$3 ~ wanted' <<'END'
stop 1 stop 29511 yes python3
stop 1 stop-without 29512 no torchrun
unannounced-save 2 unannounced-save 29521 yes python3
unannounced-save 2 unannounced-save-without 29522 no python3
save 3 save 29531 yes python3
loop 3 loop 29532 yes python3
loop 4 loop-without 29542 no python3
END
}
run_pair() { # run_pair PAIR
  local one
  while read -r -a one; do
    [ "${one[1]}" != "$1" ] || case_of "${one[@]}" </dev/null
  done < <(pairs_of)
}

print_rows() {
  python3 - "$rows" <<'PY'
import sys
cases = {}
for line in open(sys.argv[1]):
    name, *cells = line.rstrip("\n|").split("|")
    old = cases.setdefault(name, [""] * 4)
    for n, cell in enumerate(cells):
        if cell not in ("", "-"):
            old[n] = cell
form = "  %-26s %-18s %-10s %-20s %s"
print(form % ("case", "suspected", "confirmed", "first suspect", "resolved"))
for name, cells in cases.items():
    print(form % (name, *(cell or "-" for cell in cells)))
PY
}

main() { # a function, so that the script may be edited while it runs
  local pairs pair rank lanes=() lane
  find_python
  say "namespaces"
  mapfile -t pairs < <(pairs_of | cut -d' ' -f2 | sort -u)
  [ ${#pairs[@]} -gt 0 ] || { echo "$script: no case is called '$wanted'" >&2; exit 2; }
  make_core
  for pair in "${pairs[@]}"; do
    for rank in 0 1; do make_node "$(ns_of "$pair" $rank)"; done
    join "$(ns_of "$pair" 0)" "$(ns_of "$pair" 1)" "10.78.$pair"
  done
  say "broker and healer"
  broker_and_healer
  say "collectors"
  for pair in "${pairs[@]}"; do
    for rank in 0 1; do collector "node-$pair$rank" "$(ns_of "$pair" $rank)"; done
  done
  watched $((2 * ${#pairs[@]})) 90
  follow_incidents &
  pids+=($!)

  say "jobs"
  : >"$work/incidents"
  for pair in "${pairs[@]}"; do
    run_pair "$pair" &
    lanes+=($!)
    pids+=($!)
  done
  for lane in "${lanes[@]}"; do wait "$lane" || echo "a pair's cases ended early" >>"$broken"; done

  say "measured, in seconds from the signal (or the end of the checkpoint)"
  print_rows
  if [ -s "$broken" ]; then
    say "all incidents:"
    cli incidents --all || true
    fail "$(cat "$broken")"
  fi
  say "PASSED in $SECONDS s"
}
main
exit
