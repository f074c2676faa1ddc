package dev.unhang.collector.source.process;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What {@code /proc/PID/cgroup} tells of a job. Unlike the environment it is not under the user's control. Pure.
 *
 * @param slurm JOBID.STEPID, or empty
 * @param pod uid of the Kubernetes pod, or empty
 */
record CgroupIdentity(String slurm, String pod) {

    // .../slurmstepd.scope/job_12/step_0/... (v2) and /slurm/uid_1000/job_12/step_0 (v1)
    private static final Pattern SLURM = Pattern.compile("/job_(\\d+)(?:/step_([0-9a-z]+))?");
    // .../kubepods-burstable-pod<uid with _>.slice/... and /kubepods/burstable/pod<uid>/...
    private static final Pattern POD =
            Pattern.compile("kubepods.*pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12})");

    static CgroupIdentity parse(String cgroup) {
        Matcher slurm = SLURM.matcher(cgroup);
        String job = "";
        if (slurm.find()) {
            job = slurm.group(2) == null ? slurm.group(1) : slurm.group(1) + "." + slurm.group(2);
        }
        Matcher pod = POD.matcher(cgroup);
        return new CgroupIdentity(job, pod.find() ? pod.group(1).replace('_', '-') : "");
    }
}
