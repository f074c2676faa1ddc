package dev.unhang.healer.replay;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.protobuf.ByteString;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankReading;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * One line of a trace as a collector's sample. Reads token by token and builds the message as it goes; {@code null} and
 * absent fields stay absent. A node has one boot and one collector start for the whole trace.
 */
final class TraceRecord {

    /** Lets times before second 0 be a monotonic clock, which is never negative. */
    private static final long MONO_OFFSET_MS = 1_000_000_000L;

    private static final double ABSENT = Double.NaN;

    /** By their names in a trace, as `TRAIN`. */
    private static final Map<String, Phase> PHASES = phases();

    private final JsonParser parser;
    private final boolean heartbeats;
    private final Map<String, ByteString> boots = new HashMap<>();
    private final Map<String, ByteString> uuids = new HashMap<>();
    private final List<String> gpuOfRank = new ArrayList<>();
    private final List<String> gpuNames = new ArrayList<>();
    private final List<RankReading.Builder> ranks = new ArrayList<>();
    private final List<JobIdentity> jobs = new ArrayList<>();
    private final List<Double> progress = new ArrayList<>();

    private String node = "";
    private NodeSample sample = NodeSample.getDefaultInstance();

    private static Map<String, Phase> phases() {
        Map<String, Phase> phases = new HashMap<>();
        for (Phase phase : Phase.values()) {
            phases.put(phase.name().replace("PHASE_", ""), phase);
        }
        return phases;
    }

    TraceRecord(JsonParser parser, boolean heartbeats) {
        this.parser = parser;
        this.heartbeats = heartbeats;
    }

    String node() {
        return node;
    }

    NodeSample sample() {
        return sample;
    }

    /** Reads the object whose start was just read. Answers its time, ms from second 0 of the trace. */
    long read() throws IOException {
        double t = ABSENT;
        node = "";
        gpuOfRank.clear();
        gpuNames.clear();
        ranks.clear();
        jobs.clear();
        progress.clear();
        NodeSample.Builder next = NodeSample.newBuilder();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String field = field();
            switch (field) {
                case "t" -> t = number();
                case "node" -> node = text();
                case "gpus" -> each(() -> next.addGpus(gpu()));
                case "nics" -> each(() -> next.addNics(nic()));
                case "ranks" -> each(this::rank);
                default -> parser.skipChildren();
            }
        }
        if (Double.isNaN(t)) {
            throw wrong("the record has no time `t`");
        }
        if (node.isEmpty()) {
            throw wrong("the record has no `node`");
        }
        long ms = Math.round(t * 1000);
        ByteString boot = boots.computeIfAbsent(node, name -> hashed("boot " + name));
        addRanks(next, t);
        sample = next.setBootId(boot)
                .setCollectorStart(Trace.EPOCH_MS)
                // Numbered as they were taken: a record that comes twice or late bears the number that it had.
                .setSeq(ms + MONO_OFFSET_MS)
                .setMonoNs((ms + MONO_OFFSET_MS) * 1_000_000)
                .setWallNs((ms + Trace.EPOCH_MS) * 1_000_000)
                .build();
        return ms;
    }

    private void addRanks(NodeSample.Builder next, double t) {
        for (int i = 0; i < ranks.size(); i++) {
            RankReading.Builder rank = ranks.get(i);
            JobIdentity job = jobs.get(i);
            int index = next.getJobsList().indexOf(job);
            if (index < 0) {
                index = next.getJobsCount();
                next.addJobs(job);
            }
            rank.setJob(index);
            int gpu = gpuNames.indexOf(gpuOfRank.get(i));
            if (gpu >= 0) {
                rank.addGpus(gpu);
            }
            double moved = progress.get(i);
            if (heartbeats && !Double.isNaN(moved)) {
                rank.setProgressAgeMs((int) Math.max(0, Math.round((t - moved) * 1000)));
                rank.setHeartbeatAgeMs(0);
            }
            next.addRanks(rank);
        }
    }

    private GpuReading gpu() throws IOException {
        GpuReading.Builder gpu = GpuReading.newBuilder();
        String name = "";
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String field = field();
            if (parser.currentToken() == JsonToken.VALUE_NULL) {
                continue;
            }
            switch (field) {
                case "uuid" -> {
                    name = text();
                    gpu.setUuid(uuid(name));
                }
                case "util" -> gpu.setUtil((int) whole());
                case "mem_util" -> gpu.setMemUtil((int) whole());
                case "power_mw" -> gpu.setPowerMw((int) whole());
                case "energy_mj" -> gpu.setEnergyMj(whole());
                case "sm_mhz" -> gpu.setSmMhz((int) whole());
                case "mem_mhz" -> gpu.setMemMhz((int) whole());
                case "temp_c" -> gpu.setTempC((int) whole());
                case "mem_used" -> gpu.setMemUsedMib((int) (whole() >> 20));
                case "event_reasons" -> gpu.setEventReasons((int) whole());
                case "nvlink_tx_kib" -> gpu.setNvlinkTxKib(whole());
                case "nvlink_rx_kib" -> gpu.setNvlinkRxKib(whole());
                case "pcie_tx_b32" -> gpu.setPcieTxB32((int) whole());
                case "pcie_rx_b32" -> gpu.setPcieRxB32((int) whole());
                case "pcie_replays" -> gpu.setPcieReplays((int) whole());
                case "pids" -> each(() -> gpu.addPids((int) whole()));
                default -> parser.skipChildren();
            }
        }
        gpuNames.add(name);
        return gpu.build();
    }

    private NicReading nic() throws IOException {
        NicReading.Builder nic = NicReading.newBuilder();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String field = field();
            if (parser.currentToken() == JsonToken.VALUE_NULL) {
                continue;
            }
            switch (field) {
                case "name" -> {
                    String name = text();
                    nic.setName(name).setId("virtual/" + name);
                }
                case "operstate" -> nic.setState(operState(text()));
                case "rx_bytes" -> nic.setRxBytes(whole());
                case "tx_bytes" -> nic.setTxBytes(whole());
                case "rx_packets" -> nic.setRxPackets(whole());
                case "tx_packets" -> nic.setTxPackets(whole());
                case "rx_errs" -> nic.setRxErrors(whole());
                case "rx_drop" -> nic.setRxDropped(whole());
                default -> parser.skipChildren();
            }
        }
        return nic.build();
    }

    private void rank() throws IOException {
        RankReading.Builder rank = RankReading.newBuilder();
        JobIdentity.Builder job = JobIdentity.newBuilder();
        String gpu = "";
        double moved = ABSENT;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String field = field();
            if (parser.currentToken() == JsonToken.VALUE_NULL) {
                continue;
            }
            switch (field) {
                case "job" -> {
                    // The one that a heartbeat bears, and one that is there without: the two ways lead to one name.
                    job.setTorchelastic(text());
                    if (heartbeats) {
                        job.setHeartbeat(text());
                    }
                }
                case "epoch" -> {
                    job.setEpoch((int) whole()).setEpochKnown(true);
                    rank.setStartTicks(whole());
                }
                case "rank" -> rank.setRank((int) whole());
                case "world" -> job.setWorld((int) whole());
                case "pid" -> rank.setPid((int) whole());
                case "gpu" -> gpu = text();
                case "state" -> rank.setState(text().isEmpty() ? 0 : text().charAt(0));
                case "cpu_ticks" -> rank.setCpuTicks(whole());
                case "io_write_bytes" -> rank.setIoWriteKib(whole() >> 10);
                case "tracer_pid" -> rank.setTracerPid((int) whole());
                case "step" -> {
                    if (heartbeats) {
                        rank.setStep(whole());
                    }
                }
                case "phase" -> {
                    if (heartbeats) {
                        rank.setPhase(phase(text()));
                    }
                }
                case "progress_t" -> moved = number();
                default -> parser.skipChildren();
            }
        }
        ranks.add(rank);
        jobs.add(job.build());
        gpuOfRank.add(gpu);
        progress.add(moved);
    }

    /** 16 bytes: those of the UUID, or of a hash for a made-up trace whose GPUs bear other names. */
    private ByteString uuid(String name) {
        return uuids.computeIfAbsent(name, key -> {
            String digits = key.replace("GPU-", "").replace("-", "");
            boolean real = digits.length() == 32 && digits.chars().allMatch(c -> Character.digit(c, 16) >= 0);
            return real ? ByteString.copyFrom(HexFormat.of().parseHex(digits)) : hashed("gpu " + key);
        });
    }

    private static ByteString hashed(String name) {
        UUID uuid = UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
        return ByteString.copyFrom(HexFormat.of().parseHex(uuid.toString().replace("-", "")));
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

    private Phase phase(String name) throws IOException {
        Phase known = PHASES.get(name);
        if (known == null) {
            throw wrong("phase `" + name + "` is not known");
        }
        return known;
    }

    private interface Element {
        void read() throws IOException;
    }

    private void each(Element element) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return;
        }
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw wrong("`" + parser.currentName() + "` must be a list");
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            element.read();
        }
    }

    private String field() throws IOException {
        String name = parser.currentName();
        if (name == null || parser.nextToken() == null) {
            throw wrong("the record ends in its middle");
        }
        return name;
    }

    private String text() throws IOException {
        return parser.getText();
    }

    private double number() throws IOException {
        return parser.currentToken() == JsonToken.VALUE_NULL ? ABSENT : parser.getDoubleValue();
    }

    /** A whole number. Recordings hold some that were computed and carry a fraction. */
    private long whole() throws IOException {
        return parser.currentToken() == JsonToken.VALUE_NUMBER_FLOAT
                ? (long) parser.getDoubleValue()
                : parser.getLongValue();
    }

    JsonParseException wrong(String reason) {
        return new JsonParseException(parser, reason, parser.currentTokenLocation());
    }
}
