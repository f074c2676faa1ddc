package dev.unhang.lab.compose;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The lines of a trace, as {@code lab/traces/FORMAT.md} has them. Not thread safe. */
final class TraceJson {

    private static final JsonFactory JSON = new JsonFactory();

    private static final Map<OperState, String> LINKS = Map.of(
            OperState.OPER_STATE_UP, "up",
            OperState.OPER_STATE_DOWN, "down",
            OperState.OPER_STATE_LOWER_LAYER_DOWN, "lowerlayerdown");

    private final Plan plan;
    private final Setting setting;
    private final String job;

    TraceJson(Plan plan) {
        this.plan = plan;
        this.setting = plan.setting();
        this.job = "train-" + plan.name();
    }

    private static String phase(Phase phase) {
        return phase.name().substring("PHASE_".length());
    }

    byte[] header(List<Occasion> trouble) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = JSON.createGenerator(bytes)) {
            json.writeStartObject();
            json.writeStringField("trace", plan.name());
            json.writeNumberField("format", 1);
            json.writeStringField("source", "composed by seed " + plan.seed() + " from recorded segments");
            json.writeNumberField("hz", 1);
            json.writeObjectFieldStart("job");
            json.writeStringField("id", job);
            json.writeNumberField("world", setting.world());
            json.writeEndObject();
            json.writeArrayFieldStart("labels");
            for (Label label : plan.labels()) {
                label(json, label);
            }
            json.writeEndArray();
            json.writeArrayFieldStart("benign");
            for (Occasion occasion : plan.occasions()) {
                occasion(json, occasion);
            }
            for (Occasion occasion : trouble) {
                occasion(json, occasion);
            }
            json.writeEndArray();
            json.writeStringField("note", setting.words());
            json.writeEndObject();
        }
        bytes.write('\n');
        return bytes.toByteArray();
    }

    private static void label(JsonGenerator json, Label label) throws IOException {
        json.writeStartObject();
        json.writeStringField("kind", label.kind());
        json.writeNumberField("onset", label.onset());
        if (label.clears()) {
            json.writeNumberField("cleared", label.cleared());
        } else {
            json.writeNullField("cleared");
        }
        json.writeStringField("cause", label.cause());
        json.writeArrayFieldStart("suspects");
        for (Label.Culprit culprit : label.ranks()) {
            json.writeStartObject();
            json.writeStringField("node", culprit.node());
            json.writeNumberField("rank", culprit.rank());
            json.writeEndObject();
        }
        json.writeEndArray();
        if (!label.nodes().isEmpty()) {
            json.writeArrayFieldStart("accept_nodes");
            for (String node : label.nodes()) {
                json.writeString(node);
            }
            json.writeEndArray();
        }
        if (!label.judged()) {
            json.writeBooleanField("nojudge", true);
        }
        json.writeEndObject();
    }

    private static void occasion(JsonGenerator json, Occasion occasion) throws IOException {
        json.writeStartObject();
        json.writeStringField("kind", occasion.kind());
        json.writeNumberField("from", occasion.from());
        json.writeNumberField("to", occasion.to());
        json.writeEndObject();
    }

    /** What a node's collector took at {@code seconds}. */
    byte[] record(double seconds, int node, int second, Player player) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(600 * setting.perNode());
        try (JsonGenerator json = JSON.createGenerator(bytes)) {
            json.writeStartObject();
            json.writeNumberField("t", rounded(seconds));
            json.writeStringField("node", Setting.nodeName(node));
            List<RankCounters> here = player.ranks()
                    .subList(node * setting.perNode(), Math.min(setting.world(), (node + 1) * setting.perNode()));
            json.writeArrayFieldStart("gpus");
            for (RankCounters rank : here) {
                gpu(json, rank);
            }
            json.writeEndArray();
            json.writeArrayFieldStart("nics");
            nics(json, node, second, player.nic(node));
            json.writeEndArray();
            json.writeArrayFieldStart("ranks");
            for (RankCounters rank : here) {
                if (!rank.gone) {
                    rank(json, rank, player.epoch());
                }
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        bytes.write('\n');
        return bytes.toByteArray();
    }

    private static String uuid(RankCounters rank) {
        return String.format(Locale.ROOT, "GPU-00000000-0000-4000-8000-%012x", rank.rank);
    }

    private static void gpu(JsonGenerator json, RankCounters rank) throws IOException {
        Second now = rank.now;
        json.writeStartObject();
        json.writeStringField("uuid", uuid(rank));
        json.writeNumberField("util", Math.round(now.util()));
        json.writeNumberField("mem_util", Math.round(now.memUtil()));
        json.writeNumberField("power_mw", Math.round(rank.power));
        json.writeNumberField("energy_mj", (long) rank.energy);
        json.writeNumberField("sm_mhz", now.smMhz());
        json.writeNumberField("mem_mhz", now.memMhz());
        json.writeNumberField("temp_c", now.celsius());
        json.writeNumberField("mem_used", (long) rank.memoryBytes());
        json.writeNumberField("event_reasons", now.reasons());
        json.writeNumberField("nvlink_tx_kib", (long) rank.nvlinkOut);
        json.writeNumberField("nvlink_rx_kib", (long) rank.nvlinkIn);
        json.writeNumberField("pcie_tx_b32", (long) rank.pcieOut & 0xffffffffL);
        json.writeNumberField("pcie_rx_b32", (long) rank.pcieIn & 0xffffffffL);
        json.writeNumberField("pcie_replays", 0);
        json.writeArrayFieldStart("pids");
        if (!rank.gone) {
            json.writeNumber(rank.pid);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private void nics(JsonGenerator json, int node, int second, Player.Nic nic) throws IOException {
        if (setting.secondNic()) {
            Episode down = node == 0 ? plan.oldNic() : null;
            Player.Nic unused = new Player.Nic();
            unused.in = 4000 + 60.0 * second;
            unused.out = 1000;
            if (down != null && second > down.from()) {
                unused.in = 4000 + 60.0 * down.from();
                unused.state = down.covers(second) ? OperState.OPER_STATE_DOWN : OperState.OPER_STATE_UP;
            }
            nic(json, "eth0", unused);
        }
        nic(json, "eth1", nic);
    }

    private static void nic(JsonGenerator json, String name, Player.Nic nic) throws IOException {
        json.writeStartObject();
        json.writeStringField("name", name);
        json.writeStringField("operstate", LINKS.getOrDefault(nic.state, "unknown"));
        json.writeNumberField("rx_bytes", (long) nic.in);
        json.writeNumberField("tx_bytes", (long) nic.out);
        json.writeNumberField("rx_packets", (long) nic.packetsIn);
        json.writeNumberField("tx_packets", (long) nic.packetsOut);
        json.writeNumberField("rx_errs", 0);
        json.writeNumberField("rx_drop", 0);
        json.writeEndObject();
    }

    private void rank(JsonGenerator json, RankCounters rank, int epoch) throws IOException {
        json.writeStartObject();
        json.writeStringField("job", job);
        json.writeNumberField("epoch", epoch);
        json.writeNumberField("rank", rank.rank);
        json.writeNumberField("world", setting.world());
        json.writeNumberField("pid", rank.pid);
        json.writeStringField("gpu", uuid(rank));
        json.writeStringField("state", String.valueOf(rank.now.state()));
        json.writeNumberField("cpu_ticks", (long) rank.cpu);
        if (setting.io() == Setting.Io.NOT_READ) {
            json.writeNullField("io_write_bytes");
        } else {
            json.writeNumberField("io_write_bytes", (long) rank.written);
        }
        if (rank.traced) {
            json.writeNumberField("tracer_pid", 77);
        }
        if (setting.tells() != Setting.Tells.NOTHING) {
            json.writeNumberField("step", rank.step);
            json.writeStringField("phase", phase(rank.phase));
            json.writeNumberField("progress_t", rounded(rank.progress));
        }
        json.writeEndObject();
    }

    private static double rounded(double seconds) {
        return Math.round(seconds * 1000) / 1000.0;
    }
}
