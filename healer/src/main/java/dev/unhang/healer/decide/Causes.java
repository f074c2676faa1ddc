package dev.unhang.healer.decide;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.ledger.Ledger;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the incident on a node, a NIC or a GPU that explains a job's: the one whose subject the finding itself names,
 * else one that is open on the node of the first suspect. One trouble, one ladder. Pure.
 */
final class Causes {

    private Causes() {}

    static Optional<Incident> of(Incident job, Ledger ledger) {
        if (!Kinds.isJob(job.getKind())) {
            return Optional.empty();
        }
        String named = job.getFinding().getCause();
        if (!named.isEmpty()) {
            return ledger.openIncidents().stream()
                    .filter(other -> other.getSubject().equals(named))
                    .findFirst();
        }
        if (job.getFinding().getSuspectsCount() == 0) {
            return Optional.empty();
        }
        Suspect first = job.getFinding().getSuspects(0);
        if (first.getNode().isEmpty()) {
            return Optional.empty();
        }
        return ledger.openIncidents().stream()
                .filter(other -> Kinds.explainsJobs(other.getKind()))
                .filter(other -> touches(other, first))
                .findFirst();
    }

    private static boolean touches(Incident other, Suspect suspect) {
        if (other.getSubject().startsWith("gpu:") && !suspect.getGpu().isEmpty()) {
            return other.getSubject().equals("gpu:" + suspect.getGpu());
        }
        Set<String> nodes = Kinds.nodes(other.getFinding());
        return nodes.contains(suspect.getNode());
    }
}
