package dev.unhang.healer.guard;

import java.util.Set;

/** What guards must know of the jobs that run now. */
public interface JobViews {

    /** Names of the jobs with a rank on the node. */
    Set<String> jobsOn(String node);

    /** Nodes of the job's ranks; empty: no such job is known. */
    Set<String> nodesOf(String job);
}
