package dev.unhang.healer.incident;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Suspect;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** What is fixed for each kind of incident: its name, its severity once confirmed, and what it is about. Stateless. */
public final class Kinds {

    private static final Set<IncidentKind> JOB =
            Set.of(IncidentKind.JOB_HANG, IncidentKind.JOB_SLOW, IncidentKind.RANK_MISSING, IncidentKind.INPUT_STALL);

    private static final Set<IncidentKind> EXPLAINS_JOBS = Set.of(
            IncidentKind.NODE_SILENT,
            IncidentKind.GPU_FAULT,
            IncidentKind.NIC_FAULT,
            IncidentKind.LINK_FAULT,
            IncidentKind.LEAKED_CONTEXT);

    private Kinds() {}

    /** The name in ids, logs and the API, as {@code job-hang}. */
    public static String name(IncidentKind kind) {
        return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The name of a state, as {@code awaiting-approval}. */
    public static String name(IncidentState state) {
        return state.name()
                .replaceFirst("INCIDENT_", "")
                .toLowerCase(Locale.ROOT)
                .replace('_', '-');
    }

    /** Whether the kind is about a job. */
    public static boolean isJob(IncidentKind kind) {
        return JOB.contains(kind);
    }

    /** Whether an incident of this kind on a node, a NIC or a GPU may be the cause of a job's. */
    public static boolean explainsJobs(IncidentKind kind) {
        return EXPLAINS_JOBS.contains(kind);
    }

    /** At most one incident is open a slot. The kinds of standstill of a job share one; slowness is a trouble of its own. */
    public static String slot(IncidentKind kind, String subject) {
        return (isJob(kind) && kind != IncidentKind.JOB_SLOW ? "job" : name(kind)) + ' ' + subject;
    }

    /** Of a confirmed incident: what the finding says, else what is usual for the kind. */
    public static Severity severity(IncidentKind kind, Finding finding) {
        Severity said = finding.getSeverity();
        if (said == Severity.WARNING || said == Severity.CRITICAL) {
            return said;
        }
        return switch (kind) {
            case JOB_HANG, RANK_MISSING, NODE_SILENT, GPU_FAULT, TELEMETRY_BLIND, COMMON_CAUSE -> Severity.CRITICAL;
            default -> Severity.WARNING;
        };
    }

    /** The nodes that a finding touches: those that it lists, its suspects', and the one in its subject. */
    public static Set<String> nodes(Finding finding) {
        Set<String> nodes = new TreeSet<>(finding.getNodesList());
        for (Suspect suspect : finding.getSuspectsList()) {
            if (!suspect.getNode().isEmpty()) {
                nodes.add(suspect.getNode());
            }
        }
        String subject = finding.getSubject();
        if (subject.startsWith("node:")) {
            nodes.add(subject.substring("node:".length()));
        } else if (subject.startsWith("nic:")) {
            int slash = subject.indexOf('/');
            nodes.add(subject.substring("nic:".length(), slash < 0 ? subject.length() : slash));
        }
        return nodes;
    }
}
