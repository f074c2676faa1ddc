package dev.unhang.healer.guard;

import dev.unhang.events.v1.BreakerCall;
import dev.unhang.events.v1.BreakerCallKind;
import dev.unhang.events.v1.BreakerState;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.policy.Aim;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The circuit breakers of an action in the fleet and of an action on a node: Resilience4j's, on log time. A breaker is
 * nothing but the list of calls in the state: it is made anew from that list each time that it is asked, so that a
 * decider that took over, a replay and a run without an end have the same one, with the same trial in flight. The list
 * holds the last {@value #KEPT} calls, which is more than the window and the trials that can follow it. Stateless.
 */
public final class Breakers {

    /** Calls that are kept. */
    static final int KEPT = 64;

    private static final Duration OPEN_IN_FLEET = Duration.ofMinutes(30);
    private static final Duration OPEN_ON_NODE = Duration.ofHours(6);
    private static final float HALF = 50;

    /** In the fleet: half of the last ten and at least four have failed. */
    private static final int FLEET_WINDOW = 10;

    private static final int FLEET_LEAST = 4;

    /** On one node: the last two have failed. */
    private static final int NODE_WINDOW = 2;

    private Breakers() {}

    /** Names of the breakers that stand before this, as in the keys of the state. */
    public static List<String> names(Aim aim) {
        List<String> names = new ArrayList<>();
        names.add(aim.action().label());
        if (aim.action().scope() == Action.Scope.NODE) {
            aim.nodes().forEach(node -> names.add(aim.action().label() + '@' + node));
        }
        return names;
    }

    static Optional<String> open(Question question) {
        if (question.deed() == null) {
            return Optional.empty();
        }
        for (String name : names(question.deed().aim())) {
            BreakerState state = question.world().ledger().breaker(name);
            if (!permits(state, question.world().nowMs())) {
                return Optional.of("the circuit breaker of " + name + " is open: too many of the last have failed");
            }
        }
        return Optional.empty();
    }

    /** Whether a call would be let through at this log time. */
    public static boolean permits(BreakerState state, long nowMs) {
        LogClock clock = new LogClock();
        CircuitBreaker breaker = feed(state, clock);
        clock.reach(nowMs);
        return breaker.tryAcquirePermission();
    }

    /** The list with one more call. */
    public static BreakerState with(BreakerState state, String name, BreakerCallKind kind, long nowMs) {
        List<BreakerCall> calls = new ArrayList<>(state.getCallsList());
        calls.add(BreakerCall.newBuilder().setLogTimeMs(nowMs).setKind(kind).build());
        return BreakerState.newBuilder()
                .setName(name)
                .addAllCalls(calls.subList(Math.max(0, calls.size() - KEPT), calls.size()))
                .build();
    }

    private static CircuitBreaker feed(BreakerState state, LogClock clock) {
        boolean ofNode = state.getName().indexOf('@') >= 0;
        CircuitBreaker breaker = CircuitBreaker.of(
                "breaker",
                CircuitBreakerConfig.custom()
                        .slidingWindowType(CircuitBreakerConfig.SlidingWindowType.COUNT_BASED)
                        .slidingWindowSize(ofNode ? NODE_WINDOW : FLEET_WINDOW)
                        .minimumNumberOfCalls(ofNode ? NODE_WINDOW : FLEET_LEAST)
                        .failureRateThreshold(ofNode ? 100 : HALF)
                        .waitDurationInOpenState(ofNode ? OPEN_ON_NODE : OPEN_IN_FLEET)
                        .permittedNumberOfCallsInHalfOpenState(1)
                        .automaticTransitionFromOpenToHalfOpenEnabled(false)
                        .maxWaitDurationInHalfOpenState(Duration.ZERO)
                        .clock(clock)
                        .build());
        for (BreakerCall call : state.getCallsList()) {
            clock.reach(call.getLogTimeMs());
            switch (call.getKind()) {
                case BREAKER_ACQUIRED -> breaker.tryAcquirePermission();
                case BREAKER_SUCCESS -> breaker.onSuccess(0, TimeUnit.MILLISECONDS);
                case BREAKER_ERROR -> breaker.onError(0, TimeUnit.MILLISECONDS, new IllegalStateException("failed"));
                default -> {
                    // Of a newer healer: it counts as nothing.
                }
            }
        }
        return breaker;
    }
}
