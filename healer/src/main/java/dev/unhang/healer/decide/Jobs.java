package dev.unhang.healer.decide;

import dev.unhang.healer.detect.fleet.FleetDetector;
import dev.unhang.healer.detect.job.JobSight;
import dev.unhang.healer.guard.JobViews;
import java.util.Optional;
import java.util.Set;

/** The jobs that run now, as the fleet's detector sees them. */
record Jobs(FleetDetector fleet) implements JobViews {

    Optional<JobSight> job(String name) {
        return fleet.job(name);
    }

    @Override
    public Set<String> jobsOn(String node) {
        return fleet.jobsOn(node);
    }

    @Override
    public Set<String> nodesOf(String job) {
        return fleet.job(job).map(sight -> Set.copyOf(sight.nodes())).orElse(Set.of());
    }
}
