package dev.unhang.healer.detect.fleet;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Finding;
import java.util.List;

/**
 * Judges what no single node can tell: jobs, peers, the fleet. A pure function of the inbox, in order. Its findings are
 * not written to the log: the decider, which runs it just before it decides, is their only reader and finds them again
 * after a take-over. Confined to the decider's thread.
 */
public final class FleetDetector {

    /**
     * Takes one record of the inbox.
     *
     * @param logTimeMs log time of the inbox at this record
     * @param stampMs the broker's stamp; for people only
     */
    public List<Finding> onRecord(Message message, long logTimeMs, long stampMs) {
        return List.of();
    }
}
