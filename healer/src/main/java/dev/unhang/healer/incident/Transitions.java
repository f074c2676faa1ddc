package dev.unhang.healer.incident;

import static dev.unhang.events.v1.IncidentState.INCIDENT_ACTING;
import static dev.unhang.events.v1.IncidentState.INCIDENT_AWAITING_APPROVAL;
import static dev.unhang.events.v1.IncidentState.INCIDENT_CONFIRMED;
import static dev.unhang.events.v1.IncidentState.INCIDENT_DISMISSED;
import static dev.unhang.events.v1.IncidentState.INCIDENT_ESCALATED;
import static dev.unhang.events.v1.IncidentState.INCIDENT_HELD;
import static dev.unhang.events.v1.IncidentState.INCIDENT_RESOLVED;
import static dev.unhang.events.v1.IncidentState.INCIDENT_STATE_NONE;
import static dev.unhang.events.v1.IncidentState.INCIDENT_SUSPECTED;
import static dev.unhang.events.v1.IncidentState.INCIDENT_VERIFYING;

import dev.unhang.events.v1.IncidentState;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The legal steps of an incident, as a table.
 *
 * <pre>
 *   none ─▶ suspected ─▶ confirmed ─▶ awaiting-approval ─▶ acting ─▶ verifying ─▶ confirmed (next rung)
 *               │            ├──────▶ held ◀────┘            ▲
 *               ▼            └────────────────────(all yes)──┘
 *           dismissed      confirmed, awaiting-approval, held, verifying, escalated ─▶ resolved
 *                          confirmed, awaiting-approval, held, verifying            ─▶ escalated
 * </pre>
 *
 * A person may dismiss in each open state but acting: what runs is waited for first. Stateless.
 */
public final class Transitions {

    private static final Map<IncidentState, Set<IncidentState>> BY_ITSELF = new EnumMap<>(IncidentState.class);

    static {
        BY_ITSELF.put(INCIDENT_STATE_NONE, EnumSet.of(INCIDENT_SUSPECTED));
        BY_ITSELF.put(INCIDENT_SUSPECTED, EnumSet.of(INCIDENT_CONFIRMED, INCIDENT_DISMISSED));
        BY_ITSELF.put(
                INCIDENT_CONFIRMED,
                EnumSet.of(
                        INCIDENT_AWAITING_APPROVAL,
                        INCIDENT_ACTING,
                        INCIDENT_HELD,
                        INCIDENT_RESOLVED,
                        INCIDENT_ESCALATED));
        BY_ITSELF.put(
                INCIDENT_HELD,
                EnumSet.of(INCIDENT_AWAITING_APPROVAL, INCIDENT_ACTING, INCIDENT_RESOLVED, INCIDENT_ESCALATED));
        BY_ITSELF.put(
                INCIDENT_AWAITING_APPROVAL,
                EnumSet.of(INCIDENT_ACTING, INCIDENT_HELD, INCIDENT_RESOLVED, INCIDENT_ESCALATED));
        BY_ITSELF.put(INCIDENT_ACTING, EnumSet.of(INCIDENT_VERIFYING));
        BY_ITSELF.put(INCIDENT_VERIFYING, EnumSet.of(INCIDENT_RESOLVED, INCIDENT_CONFIRMED, INCIDENT_ESCALATED));
        BY_ITSELF.put(INCIDENT_ESCALATED, EnumSet.of(INCIDENT_RESOLVED));
    }

    private static final Set<IncidentState> OPEN = EnumSet.of(
            INCIDENT_SUSPECTED,
            INCIDENT_CONFIRMED,
            INCIDENT_AWAITING_APPROVAL,
            INCIDENT_HELD,
            INCIDENT_ACTING,
            INCIDENT_VERIFYING,
            INCIDENT_ESCALATED);

    private Transitions() {}

    /** Whether the healer may take this step by itself. */
    public static boolean legal(IncidentState from, IncidentState to) {
        return BY_ITSELF.getOrDefault(from, Set.of()).contains(to);
    }

    /** Whether a person may dismiss an incident that is in this state. */
    public static boolean personMayDismiss(IncidentState from) {
        return OPEN.contains(from) && from != INCIDENT_ACTING;
    }

    /** Whether an incident in this state still wants something. */
    public static boolean open(IncidentState state) {
        return OPEN.contains(state);
    }

    /** Whether an incident in this state is resolved once its signal has been well and covered for long enough. */
    public static boolean endsWhenWell(IncidentState state) {
        return legal(state, INCIDENT_RESOLVED);
    }
}
