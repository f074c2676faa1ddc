package dev.unhang.healer.guard;

import dev.unhang.events.v1.GuardAnswer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Asks every guard and keeps each answer, so that the journal holds why something was done and why not. A guard that
 * fails refuses. The first refusal is what people read, so the more telling ones stand first. Stateless.
 */
public final class Guards {

    /** What is held in observe mode. */
    public static final String OBSERVE = "observe mode: people are told, nothing is done";

    /** Attempts are used up: a person must look. */
    public static final String ATTEMPTS = "attempts";

    /** When a guard is asked: always, for what an actuator or scheduler would do, or only for what puts something at risk. */
    private enum Asked {
        ALWAYS,
        DEEDS,
        HARM
    }

    private record Guard(String name, Asked asked, Function<Question, Optional<String>> refuses) {}

    private static final List<Guard> ALL = List.of(
            new Guard("pause", Asked.ALWAYS, People::paused),
            new Guard("silence", Asked.ALWAYS, People::silenced),
            new Guard("cause", Asked.ALWAYS, Causes::underRepair),
            new Guard("taken", Asked.ALWAYS, People::taken),
            new Guard("maintenance", Asked.ALWAYS, People::maintenance),
            new Guard("duplicate-node", Asked.ALWAYS, Sight::duplicate),
            new Guard("blind", Asked.DEEDS, Sight::blind),
            new Guard("freshness", Asked.DEEDS, Sight::stale),
            new Guard("common-cause", Asked.HARM, Causes::common),
            new Guard("ownership", Asked.HARM, People::drained),
            new Guard("opted-out", Asked.HARM, People::optedOut),
            new Guard("management-nic", Asked.HARM, Sight::managementNic),
            new Guard("live-processes", Asked.HARM, Sight::liveProcesses),
            new Guard("one-action", Asked.DEEDS, Numbers::oneAction),
            new Guard(ATTEMPTS, Asked.HARM, Numbers::attempts),
            new Guard("cooldown", Asked.HARM, Numbers::cooldown),
            new Guard("blast-radius", Asked.HARM, Radius::exceeded),
            new Guard("circuit-breaker", Asked.HARM, Breakers::open),
            new Guard(
                    "mode",
                    Asked.ALWAYS,
                    question -> question.mode() == dev.unhang.healer.policy.Mode.OBSERVE
                            ? Optional.of(OBSERVE)
                            : Optional.empty()));

    private Guards() {}

    /** The answer of each guard that is to be asked, in order. */
    public static List<GuardAnswer> ask(Question question) {
        List<GuardAnswer> answers = new ArrayList<>();
        for (Guard guard : ALL) {
            boolean asked = switch (guard.asked()) {
                case ALWAYS -> true;
                case DEEDS -> question.deed() != null;
                case HARM -> question.harms();
            };
            if (asked) {
                answers.add(answer(guard.name(), refusal(guard, question)));
            }
        }
        return answers;
    }

    /** Names of all guards, in the order in which they are asked. */
    public static List<String> names() {
        return ALL.stream().map(Guard::name).toList();
    }

    /** One answer; empty means yes. */
    public static GuardAnswer answer(String guard, Optional<String> refusal) {
        return GuardAnswer.newBuilder()
                .setGuard(guard)
                .setAllowed(refusal.isEmpty())
                .setReason(refusal.orElse(""))
                .build();
    }

    private static Optional<String> refusal(Guard guard, Question question) {
        try {
            return guard.refuses().apply(question);
        } catch (RuntimeException e) {
            return Optional.of("the guard " + guard.name() + " failed, so it refuses: " + e);
        }
    }
}
