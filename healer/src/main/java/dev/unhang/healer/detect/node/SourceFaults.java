package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.SourceFault;
import java.util.ArrayList;
import java.util.List;

/** Which sources did not give their readings in a sample, and why. Immutable. */
record SourceFaults(List<SourceFault> faults) {

    static SourceFaults of(NodeSample sample) {
        return new SourceFaults(sample.getSourcesList());
    }

    /** Whether a source gave its readings, so that what is not listed is not there. */
    boolean answered(String source) {
        for (SourceFault fault : faults) {
            if (fault.getSource().equals(source)) {
                return lacksSomePermission(fault);
            }
        }
        return true;
    }

    /** Processes whose environment is forbidden were never told as ranks; those that were are all listed nonetheless. */
    private static boolean lacksSomePermission(SourceFault fault) {
        return fault.getSource().equals("process") && fault.getStatus() == ReadStatus.READ_STATUS_NO_PERMISSION;
    }

    boolean stuck() {
        for (SourceFault fault : faults) {
            if (fault.getStatus() == ReadStatus.READ_STATUS_STUCK) {
                return true;
            }
        }
        return false;
    }

    /** A hash of all whose change is news, begun with {@code hash}. */
    int picture(int hash) {
        int next = hash;
        for (SourceFault fault : faults) {
            next = 31 * next + fault.getStatusValue();
        }
        return next;
    }

    /** Sentences for people; a new list. */
    List<String> notes() {
        List<String> notes = new ArrayList<>();
        for (SourceFault fault : faults) {
            switch (fault.getStatus()) {
                case READ_STATUS_STUCK ->
                    notes.add("source " + fault.getSource() + " is stuck for " + fault.getSinceMs() / 1000 + " s"
                            + (fault.getDetail().isEmpty() ? "" : ": " + fault.getDetail()));
                case READ_STATUS_ABSENT, READ_STATUS_NOT_SUPPORTED, READ_STATUS_PENDING, READ_STATUS_OK -> {}
                default ->
                    notes.add("source " + fault.getSource() + ": "
                            + (fault.getDetail().isEmpty() ? fault.getStatus().name() : fault.getDetail()));
            }
        }
        return notes;
    }
}
