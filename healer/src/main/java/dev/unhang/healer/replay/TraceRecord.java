package dev.unhang.healer.replay;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.google.protobuf.ByteString;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.UUID;

/**
 * One line of a trace as a collector's sample. Reads token by token and builds the message as it goes; {@code null} and
 * absent fields stay absent. A node has one boot and one collector start for the whole trace.
 */
final class TraceRecord {

    /** Lets times before second 0 be a monotonic clock, which is never negative. */
    private static final long MONO_OFFSET_MS = 1_000_000_000L;

    private final TraceFields fields;
    private final TraceGpus gpus;
    private final TraceRanks ranks;
    private final Map<String, ByteString> boots = new HashMap<>();

    private String node = "";
    private NodeSample sample = NodeSample.getDefaultInstance();

    TraceRecord(JsonParser parser, boolean heartbeats) {
        fields = new TraceFields(parser);
        gpus = new TraceGpus(fields);
        ranks = new TraceRanks(fields, heartbeats);
    }

    String node() {
        return node;
    }

    NodeSample sample() {
        return sample;
    }

    /** Reads the object whose start was just read. Answers its time, ms from second 0 of the trace. */
    long read() throws IOException {
        double t = TraceFields.ABSENT;
        node = "";
        gpus.clear();
        ranks.clear();
        NodeSample.Builder next = NodeSample.newBuilder();
        while (fields.next()) {
            String field = fields.field();
            switch (field) {
                case "t" -> t = fields.number();
                case "node" -> node = fields.text();
                case "gpus" -> fields.each(() -> next.addGpus(gpus.read()));
                case "nics" -> fields.each(() -> next.addNics(nic()));
                case "ranks" -> fields.each(ranks::read);
                default -> fields.skip();
            }
        }
        if (Double.isNaN(t)) {
            throw fields.wrong("the record has no time `t`");
        }
        if (node.isEmpty()) {
            throw fields.wrong("the record has no `node`");
        }
        long ms = Math.round(t * 1000);
        ByteString boot = boots.computeIfAbsent(node, name -> hashed("boot " + name));
        ranks.addTo(next, gpus, t);
        sample = next.setBootId(boot)
                .setCollectorStart(Trace.EPOCH_MS)
                // Numbered as they were taken: a record that comes twice or late bears the number that it had.
                .setSeq(ms + MONO_OFFSET_MS)
                .setMonoNs((ms + MONO_OFFSET_MS) * 1_000_000)
                .setWallNs((ms + Trace.EPOCH_MS) * 1_000_000)
                .build();
        return ms;
    }

    private NicReading nic() throws IOException {
        NicReading.Builder nic = NicReading.newBuilder();
        while (fields.next()) {
            String field = fields.field();
            if (fields.isNull()) {
                continue;
            }
            switch (field) {
                case "name" -> {
                    String name = fields.text();
                    nic.setName(name).setId("virtual/" + name);
                }
                case "operstate" -> nic.setState(operState(fields.text()));
                case "rx_bytes" -> nic.setRxBytes(fields.whole());
                case "tx_bytes" -> nic.setTxBytes(fields.whole());
                case "rx_packets" -> nic.setRxPackets(fields.whole());
                case "tx_packets" -> nic.setTxPackets(fields.whole());
                case "rx_errs" -> nic.setRxErrors(fields.whole());
                case "rx_drop" -> nic.setRxDropped(fields.whole());
                default -> fields.skip();
            }
        }
        return nic.build();
    }

    private static OperState operState(String name) {
        return switch (name) {
            case "up" -> OperState.OPER_STATE_UP;
            case "down" -> OperState.OPER_STATE_DOWN;
            case "lowerlayerdown" -> OperState.OPER_STATE_LOWER_LAYER_DOWN;
            case "dormant" -> OperState.OPER_STATE_DORMANT;
            case "testing" -> OperState.OPER_STATE_TESTING;
            case "notpresent" -> OperState.OPER_STATE_NOT_PRESENT;
            default -> OperState.OPER_STATE_UNKNOWN;
        };
    }

    /** 16 bytes that stand for a name. */
    static ByteString hashed(String name) {
        UUID uuid = UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
        return ByteString.copyFrom(HexFormat.of().parseHex(uuid.toString().replace("-", "")));
    }

    JsonParseException wrong(String reason) {
        return fields.wrong(reason);
    }
}
