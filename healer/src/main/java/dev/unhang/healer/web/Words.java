package dev.unhang.healer.web;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import java.util.Locale;

/**
 * How the enums of the log read in JSON, in metrics and on the command line: in lower case with dashes, without their
 * prefix, as {@code job-hang} and {@code awaiting-approval}. Stateless.
 */
public final class Words {

    private Words() {}

    public static String of(IncidentKind kind) {
        return of(kind, "");
    }

    public static String of(IncidentState state) {
        return state == IncidentState.INCIDENT_STATE_NONE ? "none" : of(state, "INCIDENT_");
    }

    /** The name of a constant without {@code prefix}; a constant of a newer schema is {@code unrecognized}. */
    static String of(Enum<?> constant, String prefix) {
        String name = constant.name();
        String bare = name.startsWith(prefix) ? name.substring(prefix.length()) : name;
        return bare.toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Whether the incident still stands. An escalated one does: a person has to look. */
    static boolean open(Incident incident) {
        return switch (incident.getState()) {
            case INCIDENT_RESOLVED, INCIDENT_DISMISSED, INCIDENT_STATE_NONE, UNRECOGNIZED -> false;
            default -> true;
        };
    }

    /** Whether something is wrong for certain: open, and more than a suspicion. */
    static boolean confirmed(Incident incident) {
        return open(incident) && incident.getState() != IncidentState.INCIDENT_SUSPECTED;
    }
}
