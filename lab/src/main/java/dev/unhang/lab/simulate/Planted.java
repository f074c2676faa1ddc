package dev.unhang.lab.simulate;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.StateValue;
import java.util.Map;

/** Ledgers that are doctored on purpose. Stateless. */
final class Planted {

    private Planted() {}

    /** Nothing was tried before, whatever the state says. */
    static void forgetAttempts(Map<String, StateValue> state) {
        state.replaceAll((key, value) -> {
            if (value.hasIncident()) {
                Incident incident = value.getIncident();
                return StateValue.newBuilder()
                        .setIncident(incident.toBuilder()
                                .setAttempts(0)
                                .setRungAttempts(0)
                                .setRung(0))
                        .build();
            }
            if (value.hasNode()) {
                return StateValue.newBuilder()
                        .setNode(value.getNode().toBuilder().clearAttempts().clearAttemptsByDay())
                        .build();
            }
            if (value.hasJob()) {
                return StateValue.newBuilder()
                        .setJob(value.getJob().toBuilder().clearAttempts().clearAttemptsByDay())
                        .build();
            }
            return value.hasBreaker()
                    ? StateValue.newBuilder()
                            .setBreaker(value.getBreaker().toBuilder().clearCalls())
                            .build()
                    : value;
        });
    }
}
