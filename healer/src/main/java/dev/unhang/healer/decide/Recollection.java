package dev.unhang.healer.decide;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Standing;
import dev.unhang.healer.incident.Voices;
import dev.unhang.healer.ledger.Ledger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Brings the decider's own detectors and the ledger together after a take-over. The detectors begin empty and warm up on
 * two minutes of the inbox with their output dropped. Then what they say is compared with the ledger: what differs is
 * said at the first live record, and what the ledger holds of the old decider's detectors and these have not found again
 * within a minute of log time is well, because they would never say so. Confined to one thread.
 */
final class Recollection {

    /** How long the new detectors have to find again what stood, ms of log time. */
    static final long GRACE_MS = 60_000;

    private final Map<String, Finding> said = new LinkedHashMap<>();
    private final long untilMs;
    private boolean compared;
    private boolean over;

    /** For a fresh start there is nothing to recollect. */
    static Recollection none() {
        Recollection none = new Recollection(0);
        none.over = true;
        return none;
    }

    Recollection(long positionLogMs) {
        untilMs = positionLogMs + GRACE_MS;
    }

    boolean over() {
        return over;
    }

    /** The detectors said this, while warming up or live. */
    void heard(List<Finding> findings) {
        for (Finding finding : findings) {
            Finding own = finding.toBuilder().setOrigin(Blindness.OWN).build();
            said.put(Ledger.voiceKey(own), own);
        }
    }

    /** What is to be said at this live record beside what the detectors say at it. */
    List<Finding> reconcile(Ledger ledger, long nowMs) {
        if (over) {
            return List.of();
        }
        List<Finding> differences = new ArrayList<>();
        if (!compared) {
            compared = true;
            Map<String, Standing> held = new LinkedHashMap<>();
            own(ledger).forEach(voice -> held.put(Ledger.voiceKey(voice), voice.getStanding()));
            said.forEach((key, finding) -> {
                if (held.getOrDefault(key, Standing.WELL) != finding.getStanding()) {
                    differences.add(finding);
                }
            });
        }
        if (nowMs >= untilMs) {
            over = true;
            for (Finding voice : own(ledger)) {
                if (!said.containsKey(Ledger.voiceKey(voice))) {
                    differences.add(voice.toBuilder()
                            .setStanding(Standing.WELL)
                            .clearEvidence()
                            .addEvidence("it was not found again after a new decider took over")
                            .build());
                }
            }
        }
        return differences;
    }

    private static List<Finding> own(Ledger ledger) {
        List<Finding> own = new ArrayList<>();
        for (List<Incident> incidents :
                List.of(List.copyOf(ledger.openIncidents()), List.copyOf(ledger.closedIncidents()))) {
            for (Incident incident : incidents) {
                for (Finding voice : Voices.standing(incident)) {
                    if (voice.getOrigin().getPartition() < 0 && voice.getKind() != IncidentKind.TELEMETRY_BLIND) {
                        own.add(voice);
                    }
                }
            }
        }
        return own;
    }
}
