# A real Slurm on this machine; sourced by the scripts beside it. Everything of it lives in one folder: its own munge with
# its own key and socket, its configuration, state, logs and spools. No cgroup, no systemd, no accounting.
# Needs root and Debian's slurmctld, slurmd, slurm-client and munge. Whoever sources this calls `slurm_down` at the end.
# shellcheck shell=bash

slurm_needs() {
  local program
  for program in slurmctld slurmd squeue sinfo scontrol sbatch munged; do
    PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || {
      echo "$(basename "$0"): no $program; on Debian: apt-get install slurmctld slurmd slurm-client munge" >&2
      exit 2
    }
  done
  [ "$(id -u)" = 0 ] || { echo "$(basename "$0"): needs root to start jobs" >&2; exit 2; }
}
slurm_host=$(hostname -s)

# slurm_write DIR CONTROLLER-ADDRESS PORT NODE=ADDRESS:PORT...: its folder and configuration
slurm_write() {
  slurm=$1
  local address=$2 port=$3 node name where
  shift 3
  mkdir -p "$slurm"/{munge,state,log}
  chmod 700 "$slurm"/{munge,state}
  (umask 077; head -c 1024 /dev/urandom >"$slurm/munge/key")
  cat >"$slurm/slurm.conf" <<CONF
ClusterName=unhang
SlurmctldHost=$slurm_host($address)
SlurmctldPort=$port
AuthType=auth/munge
# A requeued job waits until its credentials have expired: two minutes by default.
AuthInfo=socket=$slurm/munge/socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool/%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=200000,batch_sched_delay=1
KillWait=3
CompleteWait=0
MinJobAge=300
MessageTimeout=3
SlurmdTimeout=300
CONF
  for node; do
    name=${node%%=*} where=${node#*=}
    mkdir -p "$slurm/spool/$name"
    echo "NodeName=$name NodeHostname=$slurm_host NodeAddr=${where%:*} Port=${where#*:} CPUs=$(nproc) RealMemory=500" \
      >>"$slurm/slurm.conf"
  done
  echo "PartitionName=train Nodes=ALL Default=YES MaxTime=INFINITE State=UP" >>"$slurm/slurm.conf"
  # No cgroups are used, and those of version 2 would have to be mounted in each namespace.
  echo "CgroupPlugin=cgroup/v1" >"$slurm/cgroup.conf"
  export SLURM_CONF=$slurm/slurm.conf
}
# Each is a child of who calls it in the background. Munge refuses a folder that others cannot pass through unless it is
# forced; here nobody else shall.
slurm_munge() {
  exec munged --foreground --force --num-threads=2 --key-file="$slurm/munge/key" --socket="$slurm/munge/socket" \
    --pid-file="$slurm/munge/pid" --log-file="$slurm/munge/log" --seed-file="$slurm/munge/seed" \
    >"$slurm/log/munged.log" 2>&1 </dev/null
}
slurm_controller() { exec slurmctld -D -f "$slurm/slurm.conf" >>"$slurm/log/slurmctld.log" 2>&1 </dev/null; }
slurm_node() { exec slurmd -D -N "$1" -f "$slurm/slurm.conf" >>"$slurm/log/slurmd-$1.log" 2>&1 </dev/null; }

slurm_up() { # slurm_up COUNT SECONDS: waits until so many nodes are idle
  local end=$((SECONDS + $2))
  until [ "$(sinfo -h -N -o '%N %T' 2>/dev/null | grep -c ' idle$')" = "$1" ]; do
    [ $SECONDS -lt $end ] || { echo "slurm has not $1 idle nodes within $2 s:" >&2; sinfo -N >&2 || true; return 1; }
    sleep 0.2
  done
}
# Ends all that runs out of the folder: jobs too, which outlive their slurmd.
slurm_down() {
  [ -n "${slurm:-}" ] || return 0
  local end pids
  mapfile -t pids < <(slurm_processes)
  [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
  end=$((SECONDS + 3))
  while [ -n "$(slurm_processes)" ] && [ $SECONDS -lt $end ]; do sleep 0.1; done
  mapfile -t pids < <(slurm_processes)
  [ ${#pids[@]} = 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || true
}
# Whoever has our configuration in the environment or on the command line, the processes of jobs included.
slurm_processes() {
  {
    grep -lzxF "SLURM_CONF=$slurm/slurm.conf" /proc/[0-9]*/environ
    grep -lzxF -e "$slurm/slurm.conf" -e "--key-file=$slurm/munge/key" /proc/[0-9]*/cmdline
  } 2>/dev/null | cut -d/ -f3 | sort -u
}
