package dev.unhang.healer.decide;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.RankProcess;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.ProcessName;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.policy.Aim;
import dev.unhang.healer.policy.Rung;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Aims a step of a ladder at what the incident's finding says. Where there is nothing to aim at, the step is left out. Pure. */
final class Aims {

    private static final String DRAINED_FOR = "unhang: ";

    private Aims() {}

    /** Whom and what the step would touch; empty: the finding names nothing that the action could be aimed at. */
    static Optional<Aim> of(Incident incident, Rung rung) {
        Finding finding = incident.getFinding();
        return switch (rung.action()) {
            case LOOK, COLLECT_EVIDENCE -> reading(rung, finding);
            case RESTART_RANKS -> restart(rung, finding);
            case RELAUNCH_UNIT -> relaunch(rung, finding);
            case KILL_LEAKED -> leaked(rung, finding);
            case RESTART_PERSISTENCED, STEP_CLOCK -> culprit(finding).map(node -> onNode(rung, node, Map.of()));
            case RESET_GPU ->
                finding.getSubject().startsWith("gpu:")
                        ? culprit(finding)
                                .map(node -> onNode(
                                        rung,
                                        node,
                                        Map.of("gpu", finding.getSubject().substring("gpu:".length()))))
                        : Optional.empty();
            case BOUNCE_NIC -> bounce(rung, finding);
            case DRAIN ->
                culprit(finding)
                        .map(node -> new Aim(
                                Action.DRAIN,
                                Action.AT_SCHEDULER,
                                Set.of(node),
                                "",
                                Map.of("node", node, "reason", drainReason(incident))));
            case REQUEUE -> requeue(rung, finding);
            case UNDRAIN -> Optional.empty();
        };
    }

    /** A look at the ranks that a finding names; empty: it names none. */
    static Optional<Aim> look(Finding finding) {
        return reading(Looks.RUNG, finding);
    }

    /** Gives back a node that was drained with this reason. */
    static Aim undrain(String node, String reason) {
        return new Aim(Action.UNDRAIN, Action.AT_SCHEDULER, Set.of(node), "", Map.of("node", node, "reason", reason));
    }

    static String drainReason(Incident incident) {
        return DRAINED_FOR + incident.getId();
    }

    /** The id of the incident for which we drained with this reason; empty: it is not our way to put it. */
    static Optional<String> drainedFor(String reason) {
        return reason.startsWith(DRAINED_FOR) ? Optional.of(reason.substring(DRAINED_FOR.length())) : Optional.empty();
    }

    /** The node that is ill by itself, or the first suspect's. */
    static Optional<String> culprit(Finding finding) {
        String subject = finding.getSubject();
        if (subject.startsWith("node:")) {
            return Optional.of(subject.substring("node:".length()));
        }
        if (subject.startsWith("nic:") && subject.indexOf('/') > 0) {
            return Optional.of(subject.substring("nic:".length(), subject.indexOf('/')));
        }
        if (subject.startsWith("gpu:") && finding.getNodesCount() == 1) {
            return Optional.of(finding.getNodes(0));
        }
        return finding.getSuspectsCount() == 0
                        || finding.getSuspects(0).getNode().isEmpty()
                ? Optional.empty()
                : Optional.of(finding.getSuspects(0).getNode());
    }

    private static Optional<Aim> reading(Rung rung, Finding finding) {
        Map<String, String> parameters = new TreeMap<>(rung.with());
        if (finding.getProcessesCount() > 0) {
            String node = finding.getProcesses(0).getNode();
            parameters.put("processes", processes(finding, node));
            return Optional.of(onNode(rung, node, parameters));
        }
        return rung.action() == Action.LOOK
                ? Optional.empty()
                : culprit(finding).map(node -> onNode(rung, node, parameters));
    }

    private static Optional<Aim> restart(Rung rung, Finding finding) {
        if (finding.getJob().isEmpty() || finding.getProcessesCount() == 0) {
            return Optional.empty();
        }
        String node = finding.getProcesses(0).getNode();
        return Optional.of(new Aim(
                rung.action(),
                node,
                Kinds.nodes(finding),
                finding.getJob(),
                Map.of("processes", processes(finding, node), "job", finding.getJob())));
    }

    private static Optional<Aim> relaunch(Rung rung, Finding finding) {
        Map<String, String> parameters = new TreeMap<>(rung.with());
        parameters.put("job", finding.getJob());
        return finding.getJob().isEmpty()
                ? Optional.empty()
                : culprit(finding)
                        .map(node -> new Aim(rung.action(), node, Kinds.nodes(finding), finding.getJob(), parameters));
    }

    private static Optional<Aim> leaked(Rung rung, Finding finding) {
        if (!finding.getSubject().startsWith("gpu:") || finding.getProcessesCount() == 0) {
            return Optional.empty();
        }
        String node = finding.getProcesses(0).getNode();
        return Optional.of(onNode(
                rung,
                node,
                Map.of("gpu", finding.getSubject().substring("gpu:".length()), "processes", processes(finding, node))));
    }

    private static Optional<Aim> bounce(Rung rung, Finding finding) {
        String subject = finding.getSubject();
        int slash = subject.indexOf('/');
        return subject.startsWith("nic:") && slash > 0
                ? culprit(finding).map(node -> onNode(rung, node, Map.of("nic", subject.substring(slash + 1))))
                : Optional.empty();
    }

    private static Optional<Aim> requeue(Rung rung, Finding finding) {
        String slurm = finding.getIdentity().getSlurm();
        if (slurm.isEmpty() || finding.getJob().isEmpty()) {
            return Optional.empty();
        }
        int dot = slurm.indexOf('.');
        return Optional.of(new Aim(
                rung.action(),
                Action.AT_SCHEDULER,
                Kinds.nodes(finding),
                finding.getJob(),
                Map.of("job", finding.getJob(), "scheduler-job", dot < 0 ? slurm : slurm.substring(0, dot))));
    }

    private static Aim onNode(Rung rung, String node, Map<String, String> parameters) {
        return new Aim(rung.action(), node, Set.of(node), "", parameters);
    }

    private static String processes(Finding finding, String node) {
        List<ProcessName> there = finding.getProcessesList().stream()
                .filter(process -> process.getNode().equals(node))
                .map((RankProcess process) -> ProcessName.of(process))
                .toList();
        return ProcessName.join(there);
    }
}
