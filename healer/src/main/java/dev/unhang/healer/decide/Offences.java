package dev.unhang.healer.decide;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.StateChange;
import dev.unhang.healer.ledger.Ledger;
import java.util.ArrayList;
import java.util.List;

/** Remembers which node was the culprit of a confirmed incident: who offends again is drained earlier. Pure. */
final class Offences {

    private static final int KEPT = 16;

    private Offences() {}

    static List<StateChange> counted(Ledger ledger, Incident incident, long nowMs) {
        boolean ofJob = incident.getSubject().startsWith("job:");
        boolean sure = !ofJob
                || (incident.getFinding().getSuspectsCount() > 0
                        && !incident.getFinding().getSuspects(0).getConfidence().equals("low"));
        NodeState node = Aims.culprit(incident.getFinding()).map(ledger::node).orElse(null);
        if (!sure || node == null) {
            return List.of();
        }
        List<Long> offences = new ArrayList<>(node.getOffencesLogMsList());
        offences.add(nowMs);
        return List.of(Aftermath.change(node.toBuilder()
                .clearOffencesLogMs()
                .addAllOffencesLogMs(offences.subList(Math.max(0, offences.size() - KEPT), offences.size()))
                .build()));
    }
}
