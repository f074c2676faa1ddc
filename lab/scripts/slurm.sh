#!/usr/bin/env bash
# A real Slurm of some nodes on this machine, for as long as the standard input is open. Prints `ready` once all nodes are
# idle; then takes the words stop-controller and start-controller on its standard input, and answers each with `done`.
# Needs root and Debian's slurmctld, slurmd, slurm-client and munge. Leaves nothing behind but the folder and its logs.
# Usage: slurm.sh DIR NODES   (SLURM_CONF is DIR/slurm.conf, the nodes are node-1, node-2, ...)
set -euo pipefail
[ $# = 2 ] || { echo "usage: slurm.sh DIR NODES" >&2; exit 2; }
# shellcheck source=slurm.bash
. "$(dirname "${BASH_SOURCE[0]}")/slurm.bash"
slurm_needs
trap slurm_down EXIT
trap 'exit 1' INT TERM

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
nodes=()
for ((n = 1; n <= $2; n++)); do nodes+=("node-$n=127.0.0.1:$(free_port)"); done
slurm_write "$1" 127.0.0.1 "$(free_port)" "${nodes[@]}"
later() { # later FUNCTION...: in the background; bash shall not tell of its end
  "$@" &
  disown
}
later slurm_munge
until [ -S "$slurm/munge/socket" ]; do sleep 0.1; done
later slurm_controller
for ((n = 1; n <= $2; n++)); do later slurm_node "node-$n"; done
slurm_up "$2" 30
echo ready
while read -r word; do
  case $word in
    stop-controller)
      kill "$(cat "$slurm/slurmctld.pid")"
      while kill -0 "$(cat "$slurm/slurmctld.pid" 2>/dev/null)" 2>/dev/null; do sleep 0.1; done
      ;;
    start-controller)
      later slurm_controller
      until scontrol ping 2>/dev/null | grep -q 'is UP'; do sleep 0.1; done
      ;;
    *) echo "slurm.sh: unknown word '$word'" >&2; exit 2 ;;
  esac
  echo "done"
done
