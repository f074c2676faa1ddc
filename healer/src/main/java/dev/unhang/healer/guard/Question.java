package dev.unhang.healer.guard;

import dev.unhang.events.v1.Incident;
import dev.unhang.healer.ledger.Ledger;
import dev.unhang.healer.policy.Aim;
import dev.unhang.healer.policy.Limits;
import dev.unhang.healer.policy.Mode;
import dev.unhang.healer.policy.Rung;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the guards are asked: may this be done, now?
 *
 * @param mode of the playbook that is followed
 * @param deed what would be done; null while only watching, when there is nothing but the incident to ask about
 * @param nodes whose work is at stake
 * @param own id of the command that is asked about, so that it does not stand in its own way; empty: not offered yet
 * @param covered whether all partitions that the incident is about are covered
 */
public record Question(
        Incident incident,
        Mode mode,
        @Nullable Deed deed,
        Set<String> nodes,
        String own,
        boolean covered,
        World world) {

    /** A step of the ladder with its aim. */
    public record Deed(Rung rung, Aim aim) {}

    /**
     * What everything is asked against.
     *
     * @param nowMs log time of the inbox
     */
    public record World(Ledger ledger, Sightings sightings, JobViews jobs, Limits limits, long nowMs) {}

    /** Whether what would be done puts anything at risk. */
    boolean harms() {
        return deed != null && !deed.rung().harmless();
    }
}
