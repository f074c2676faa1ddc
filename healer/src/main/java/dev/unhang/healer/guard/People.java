package dev.unhang.healer.guard;

import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.PauseSwitch;
import dev.unhang.events.v1.SchedulerNode;
import dev.unhang.events.v1.Silence;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.incident.Kinds;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** What people have said or done stands above everything. Stateless. */
final class People {

    /** Words of scheduler states in which somebody has taken a node out of service. */
    private static final Set<String> OUT =
            Set.of("DRAIN", "DRAINED", "DRAINING", "DOWN", "FAIL", "FAILING", "MAINT", "OFF");

    private People() {}

    static Optional<String> paused(Question question) {
        PauseSwitch pause = question.world().ledger().pause();
        return pause.getPaused() && !givesBack(question)
                ? Optional.of("paused by " + pause.getWho() + (pause.getWhy().isEmpty() ? "" : ": " + pause.getWhy()))
                : Optional.empty();
    }

    static Optional<String> silenced(Question question) {
        for (Silence silence : question.world().ledger().silences()) {
            if (question.world().nowMs() < silence.getUntilLogMs() && matches(silence.getMatcher(), question)) {
                return Optional.of("silenced by " + silence.getWho()
                        + (silence.getWhy().isEmpty() ? "" : ": " + silence.getWhy()));
            }
        }
        return Optional.empty();
    }

    static Optional<String> taken(Question question) {
        for (String name : question.nodes()) {
            NodeState node = question.world().ledger().node(name);
            if (node != null && !node.getTakenBy().isEmpty()) {
                return Optional.of("node " + name + " was taken by " + node.getTakenBy());
            }
        }
        return Optional.empty();
    }

    static Optional<String> maintenance(Question question) {
        for (String name : question.nodes()) {
            NodeState node = question.world().ledger().node(name);
            if (node != null
                    && node.hasMaintenanceUntilLogMs()
                    && question.world().nowMs() < node.getMaintenanceUntilLogMs()) {
                return Optional.of("node " + name + " is in maintenance");
            }
        }
        return Optional.empty();
    }

    /** A node that somebody took out of the scheduler's service is his. A job on it may still be helped. */
    static Optional<String> drained(Question question) {
        if (question.deed() == null || question.deed().aim().action().scope() != Action.Scope.NODE) {
            return Optional.empty();
        }
        for (String name : question.nodes()) {
            NodeState node = question.world().ledger().node(name);
            if (node != null
                    && out(node.getScheduler())
                    && node.getScheduler().getOurs().isEmpty()) {
                SchedulerNode said = node.getScheduler();
                return Optional.of("node " + name + " is " + said.getState() + " in the scheduler"
                        + (said.getWho().isEmpty() ? "" : ", set by " + said.getWho())
                        + (said.getReason().isEmpty() ? "" : ": " + said.getReason()));
            }
        }
        return Optional.empty();
    }

    static Optional<String> optedOut(Question question) {
        String mode = question.incident().getFinding().getIdentity().getMode();
        boolean ofJob =
                question.deed() != null && question.deed().aim().action().scope() == Action.Scope.JOB;
        return ofJob && !mode.isEmpty()
                ? Optional.of("the job asked for UNHANG=" + mode + " in its environment")
                : Optional.empty();
    }

    static boolean out(SchedulerNode node) {
        for (String word : node.getState().toUpperCase(Locale.ROOT).split("[^A-Z]+", -1)) {
            if (OUT.contains(word)) {
                return true;
            }
        }
        return false;
    }

    /** A recovery harms nothing, and is not stopped by a pause. */
    private static boolean givesBack(Question question) {
        return question.deed() != null && question.deed().aim().action() == Action.UNDRAIN;
    }

    private static boolean matches(String matcher, Question question) {
        if (matcher.startsWith("node:")) {
            return question.nodes().contains(matcher.substring("node:".length()));
        }
        if (matcher.startsWith("job:")) {
            return matcher.equals("job:" + question.incident().getFinding().getJob());
        }
        return matcher.equals("kind:" + Kinds.name(question.incident().getKind()))
                || matcher.equals(question.incident().getSubject());
    }
}
