package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.JobProfile;
import dev.unhang.events.v1.LearnedPhase;
import dev.unhang.events.v1.Phase;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;

/**
 * What is known of a job over all its epochs: its pauses, its phases, and whom its standstills were blamed on. It is
 * written to the state, so that the next decider need not begin with the floors.
 */
final class Profile {

    final Pauses pauses = new Pauses();
    final Offenders offenders = new Offenders();
    private final Map<Phase, Long> longestMs = new EnumMap<>(Phase.class);
    private boolean announces;
    private boolean changed;

    /** The phases of a new epoch, with what is known of the earlier ones. */
    Phases phases(long nowMs) {
        return new Phases(announces, longestMs, nowMs);
    }

    void follow(Phases phases, Collection<RankView> ranks, boolean beats, long nowMs) {
        if (phases.follow(ranks, beats, nowMs)) {
            longestMs.putAll(phases.longestMs());
            announces |= phases.announces();
            changed = true;
        }
    }

    void named(String node, long sinceMs, long nowMs) {
        changed |= offenders.named(node, sinceMs, nowMs);
    }

    void changed(boolean since) {
        changed |= since;
    }

    /** Whether it has changed since this was last asked. */
    boolean changed() {
        boolean since = changed;
        changed = false;
        return since;
    }

    JobProfile save(long nowMs) {
        JobProfile.Builder profile =
                JobProfile.newBuilder().setAnnounces(announces).setHeardLogMs(nowMs);
        longestMs.forEach((phase, ms) -> profile.addPhases(
                LearnedPhase.newBuilder().setPhase(phase).setLongestMs((int) Math.min(Integer.MAX_VALUE, ms))));
        pauses.save(profile);
        offenders.save(profile);
        return profile.build();
    }

    void restore(JobProfile learned) {
        announces = learned.getAnnounces();
        learned.getPhasesList().stream()
                .filter(each -> each.getPhase() != Phase.UNRECOGNIZED)
                .forEach(each -> longestMs.put(each.getPhase(), (long) each.getLongestMs()));
        pauses.restore(learned);
        offenders.restore(learned);
    }
}
