package dev.unhang.healer.incident;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TransitionsTest {

    @Test
    void theTableIsThatOfTheContract() {
        List<String> legal = new ArrayList<>();
        for (IncidentState from : states()) {
            for (IncidentState to : states()) {
                if (Transitions.legal(from, to)) {
                    legal.add(Kinds.name(from) + " > " + Kinds.name(to));
                }
            }
        }
        assertThat(legal)
                .containsExactlyInAnyOrder(
                        "state-none > suspected",
                        "suspected > confirmed",
                        "suspected > dismissed",
                        "confirmed > awaiting-approval",
                        "confirmed > acting",
                        "confirmed > held",
                        "confirmed > resolved",
                        "confirmed > escalated",
                        "held > awaiting-approval",
                        "held > acting",
                        "held > resolved",
                        "held > escalated",
                        "awaiting-approval > acting",
                        "awaiting-approval > held",
                        "awaiting-approval > resolved",
                        "awaiting-approval > escalated",
                        "acting > verifying",
                        "verifying > resolved",
                        "verifying > confirmed",
                        "verifying > escalated",
                        "escalated > resolved");
    }

    @Test
    void aPersonMayDismissWhatIsOpenAndDoesNotAct() {
        assertThat(states().stream().filter(Transitions::personMayDismiss).map(Kinds::name))
                .containsExactlyInAnyOrder(
                        "suspected", "confirmed", "awaiting-approval", "held", "verifying", "escalated");
    }

    @Test
    void anIdIsItsKindAndEightDigitsOfWhatOpenedIt() {
        String id = IncidentId.of(IncidentKind.NIC_FAULT, "nic:n1/0000:01:00.0/0", 17);
        assertThat(id)
                .matches("nic-fault-[0-9a-f]{8}")
                .isEqualTo(IncidentId.of(IncidentKind.NIC_FAULT, "nic:n1/0000:01:00.0/0", 17));
        assertThat(IncidentId.of(IncidentKind.NIC_FAULT, "nic:n1/0000:01:00.0/0", 18))
                .isNotEqualTo(id);
        assertThat(IncidentId.of(IncidentKind.NIC_FAULT, "nic:n2/0000:01:00.0/0", 17))
                .isNotEqualTo(id);
    }

    private static List<IncidentState> states() {
        List<IncidentState> states = new ArrayList<>(List.of(IncidentState.values()));
        states.remove(IncidentState.UNRECOGNIZED);
        return states;
    }
}
