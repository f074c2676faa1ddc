package dev.unhang.healer.decide;

import dev.unhang.events.v1.Approval;
import dev.unhang.events.v1.ApprovalAnswer;
import dev.unhang.events.v1.GuardAnswer;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.Suspect;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.guard.Guards;
import dev.unhang.healer.guard.JobViews;
import dev.unhang.healer.guard.Question;
import dev.unhang.healer.guard.Sightings;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.incident.Ruling;
import dev.unhang.healer.ledger.Ledger;
import dev.unhang.healer.policy.Aim;
import dev.unhang.healer.policy.Facts;
import dev.unhang.healer.policy.Limits;
import dev.unhang.healer.policy.Mode;
import dev.unhang.healer.policy.Playbook;
import dev.unhang.healer.policy.Policy;
import dev.unhang.healer.policy.Rung;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Rules what is to be done about a confirmed incident: which playbook, which step of it, aimed at whom, and what every
 * guard says. Asked when the incident is confirmed, again while it is held, and again for each grant. Holds nothing that
 * was decided. Confined to the decider's thread.
 */
final class Rulings {

    private static final long WEEK_MS = 7 * 24 * 3_600_000L;

    private final Policy policy;
    private final Ledger ledger;
    private final Sightings sightings;
    private final JobViews jobs;
    private final Executors executors;

    /** Who could run an action, beside those who said so. */
    enum Executors {
        /** Only those who said so. */
        KNOWN,
        /** Everybody: a replay tells what would have been offered. */
        ASSUMED
    }

    /** A step with its place in the ladder. */
    private record Choice(int index, int attempts, Rung rung, Aim aim) {}

    Rulings(Policy policy, Ledger ledger, Sightings sightings, JobViews jobs, Executors executors) {
        this.policy = policy;
        this.ledger = ledger;
        this.sightings = sightings;
        this.jobs = jobs;
        this.executors = executors;
    }

    Ruling rule(Incident incident, boolean covered, long nowMs) {
        Playbook playbook = playbook(incident, nowMs);
        if (playbook == null || playbook.mode() == Mode.OBSERVE) {
            List<GuardAnswer> answers = Guards.ask(new Question(
                    incident, Mode.OBSERVE, null, Kinds.nodes(incident.getFinding()), "", covered, world(nowMs)));
            return hold(incident, playbook, refusal(answers).orElse(Guards.OBSERVE), answers);
        }
        int from = incident.getRung();
        int attempts = incident.getRungAttempts();
        List<String> leftOut = new ArrayList<>();
        List<GuardAnswer> lookRefused = List.of();
        while (true) {
            Choice choice = choose(incident, playbook, from, attempts, leftOut, nowMs);
            if (choice == null) {
                String why = leftOut.isEmpty() ? "" : " (" + String.join("; ", leftOut) + ")";
                return new Ruling(
                        Ruling.Verdict.ESCALATE,
                        (playbook.rungs().isEmpty()
                                        ? playbook.why()
                                        : "no step of playbook " + playbook.name() + " is left")
                                + why,
                        lookRefused,
                        playbook.name(),
                        playbook.rungs().size(),
                        0,
                        null);
            }
            Question.Deed deed = new Question.Deed(choice.rung(), choice.aim());
            List<GuardAnswer> answers = Guards.ask(
                    new Question(incident, playbook.mode(), deed, choice.aim().nodes(), "", covered, world(nowMs)));
            Optional<GuardAnswer> refused =
                    answers.stream().filter(answer -> !answer.getAllowed()).findFirst();
            if (refused.isEmpty()) {
                return allowed(incident, playbook, choice, answers, nowMs);
            }
            if (choice.rung().harmless() && !refused.get().getGuard().equals("pause")) {
                // Evidence is a gift and no condition: what heals does not wait for it.
                leftOut.add(
                        choice.rung().action().label() + ": " + refused.get().getReason());
                lookRefused = answers;
                from = choice.index() + 1;
                attempts = 0;
                continue;
            }
            return refused.get().getGuard().equals(Guards.ATTEMPTS)
                    ? new Ruling(
                            Ruling.Verdict.ESCALATE,
                            refused.get().getReason(),
                            answers,
                            playbook.name(),
                            incident.getRung(),
                            incident.getRungAttempts(),
                            null)
                    : hold(incident, playbook, refused.get().getReason(), answers);
        }
    }

    /**
     * What the guards say of a command that was claimed.
     *
     * @param rung the step that it is of
     * @param own its id
     */
    List<GuardAnswer> again(Incident incident, Mode mode, Rung rung, Aim aim, String own, boolean covered, long nowMs) {
        return Guards.ask(
                new Question(incident, mode, new Question.Deed(rung, aim), aim.nodes(), own, covered, world(nowMs)));
    }

    /** The step on which an incident stands, or null when its playbook is not there any more. */
    @Nullable
    Rung rungOf(Incident incident) {
        Playbook playbook = policy.named(incident.getPlaybook());
        return playbook == null || incident.getRung() >= playbook.rungs().size()
                ? null
                : playbook.rungs().get(incident.getRung());
    }

    Mode modeOf(Incident incident) {
        Playbook playbook = policy.named(incident.getPlaybook());
        return playbook == null ? Mode.OBSERVE : playbook.mode();
    }

    /** Whether somebody has said that he runs the action there. */
    boolean executorOf(Aim aim) {
        return executors == Executors.ASSUMED
                || Optional.ofNullable(ledger.actuator(aim.executor()))
                        .map(actuator -> actuator.getHello()
                                .getActionsList()
                                .contains(aim.action().label()))
                        .orElse(false);
    }

    boolean repeatOffender(String name, long beforeMs, long nowMs) {
        NodeState node = ledger.node(name);
        return node != null
                && node.getOffencesLogMsList().stream()
                                .filter(at -> at < beforeMs && nowMs - at < WEEK_MS)
                                .count()
                        >= policy.limits().repeatOffences();
    }

    boolean looks() {
        return policy.looks();
    }

    Limits limits() {
        return policy.limits();
    }

    private Question.World world(long nowMs) {
        return new Question.World(ledger, sightings, jobs, policy.limits(), nowMs);
    }

    private @Nullable Playbook playbook(Incident incident, long nowMs) {
        if (incident.getCommandsCount() > 0 || incident.getRung() > 0) {
            return policy.named(incident.getPlaybook());
        }
        return policy.choose(incident.getKind(), facts(incident, nowMs)).orElse(null);
    }

    private @Nullable Choice choose(
            Incident incident, Playbook playbook, int from, int attempts, List<String> leftOut, long nowMs) {
        Facts facts = facts(incident, nowMs);
        int tried = attempts;
        for (int index = from; index < playbook.rungs().size(); index++, tried = 0) {
            Rung rung = playbook.rungs().get(index);
            String label = rung.action().label();
            if (tried >= rung.attempts()) {
                continue;
            }
            Optional<String> unmet = rung.when().fails(facts);
            Optional<Aim> aim = Aims.of(incident, rung);
            if (unmet.isPresent()) {
                leftOut.add(label + ": " + unmet.get());
            } else if (aim.isEmpty()) {
                leftOut.add(label + ": the finding names nothing to aim it at");
            } else if (!executorOf(aim.get())) {
                leftOut.add(label + ": "
                        + (aim.get().executor().equals(Action.AT_SCHEDULER)
                                ? "no scheduler is connected that does it"
                                : "no actuator on " + aim.get().executor() + " allows it"));
            } else {
                return new Choice(index, tried, rung, aim.get());
            }
        }
        return null;
    }

    private Ruling allowed(Incident incident, Playbook playbook, Choice choice, List<GuardAnswer> answers, long nowMs) {
        String sentence = choice.aim().sentence() + " (step " + (choice.index() + 1) + " of "
                + playbook.rungs().size() + " of playbook " + playbook.name() + ")";
        boolean same = choice.index() == incident.getRung();
        Approval approval = same && incident.hasApproval() ? incident.getApproval() : null;
        if (playbook.mode() != Mode.APPROVE || choice.rung().harmless()) {
            return new Ruling(
                    Ruling.Verdict.ACT,
                    sentence,
                    answers,
                    playbook.name(),
                    choice.index(),
                    choice.attempts(),
                    approval);
        }
        Approval said = approval != null ? approval : expired(incident, same, nowMs);
        Optional<String> refusal = refusal(said, nowMs);
        List<GuardAnswer> all = new ArrayList<>(answers);
        all.add(Guards.answer("approval", refusal));
        boolean open = said == null || (said.getAnswer() == ApprovalAnswer.APPROVAL_GIVEN && refusal.isPresent());
        Ruling.Verdict verdict =
                refusal.isEmpty() ? Ruling.Verdict.ACT : open ? Ruling.Verdict.AWAIT : Ruling.Verdict.HOLD;
        return new Ruling(
                verdict,
                verdict == Ruling.Verdict.HOLD ? refusal.orElseThrow() : sentence,
                all,
                playbook.name(),
                choice.index(),
                choice.attempts(),
                open ? null : said);
    }

    private @Nullable Approval expired(Incident incident, boolean same, long nowMs) {
        boolean waited = same
                && incident.getState() == IncidentState.INCIDENT_AWAITING_APPROVAL
                && nowMs - incident.getStateLogMs()
                        >= policy.limits().approvalExpires().toMillis();
        return waited
                ? Approval.newBuilder()
                        .setAnswer(ApprovalAnswer.APPROVAL_EXPIRED)
                        .setLogMs(nowMs)
                        .build()
                : null;
    }

    private Optional<String> refusal(@Nullable Approval said, long nowMs) {
        if (said == null) {
            return Optional.of("it waits for a person's yes");
        }
        return switch (said.getAnswer()) {
            case APPROVAL_GIVEN ->
                nowMs - said.getLogMs() < policy.limits().approvalHolds().toMillis()
                        ? Optional.empty()
                        : Optional.of("the yes of " + said.getWho() + " is too old");
            case APPROVAL_DENIED ->
                Optional.of("denied by " + said.getWho() + (said.getWhy().isEmpty() ? "" : ": " + said.getWhy()));
            case APPROVAL_EXPIRED ->
                Optional.of("nobody said yes within "
                        + policy.limits().approvalExpires().toMinutes() + " minutes");
            default -> Optional.of("a newer healer wrote an answer that this one does not know");
        };
    }

    private static Ruling hold(
            Incident incident, @Nullable Playbook playbook, String reason, List<GuardAnswer> answers) {
        return new Ruling(
                Ruling.Verdict.HOLD,
                reason,
                answers,
                playbook == null ? incident.getPlaybook() : playbook.name(),
                incident.getRung(),
                incident.getRungAttempts(),
                incident.hasApproval() ? incident.getApproval() : null);
    }

    private static Optional<String> refusal(List<GuardAnswer> answers) {
        return answers.stream()
                .filter(answer -> !answer.getAllowed())
                .findFirst()
                .map(GuardAnswer::getReason);
    }

    private Facts facts(Incident incident, long nowMs) {
        JobIdentity identity = incident.getFinding().getIdentity();
        Set<String> launchers = new TreeSet<>();
        // Torchrun's default run id is no identity, but nobody else counts restarts outside of Slurm.
        if (!identity.getTorchelastic().isEmpty()
                || (identity.getEpochKnown() && identity.getSlurm().isEmpty())) {
            launchers.add("torchrun");
        }
        if (!identity.getSlurm().isEmpty()) {
            launchers.add("slurm");
        }
        if (!identity.getK8S().isEmpty()) {
            launchers.add("k8s");
        }
        Optional<String> culprit = Aims.culprit(incident.getFinding());
        return new Facts(
                launchers,
                confidence(incident),
                culprit.isPresent() && repeatOffender(culprit.get(), incident.getOpenedLogMs(), nowMs),
                incident.getFinding().getFiguresMap());
    }

    /** A node, a port or a GPU that is ill by itself is its own culprit. */
    private static Facts.Confidence confidence(Incident incident) {
        if (!incident.getSubject().startsWith("job:")) {
            return Aims.culprit(incident.getFinding()).isPresent() ? Facts.Confidence.HIGH : Facts.Confidence.NONE;
        }
        if (incident.getFinding().getSuspectsCount() == 0) {
            return Facts.Confidence.NONE;
        }
        Suspect first = incident.getFinding().getSuspects(0);
        return switch (first.getConfidence().toLowerCase(Locale.ROOT)) {
            case "high" -> Facts.Confidence.HIGH;
            case "medium" -> Facts.Confidence.MEDIUM;
            default -> Facts.Confidence.LOW;
        };
    }
}
