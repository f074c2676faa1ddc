package dev.unhang.healer.replay;

import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankReading;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The ranks of one record of a trace. They may stand before the GPUs that they name and before the record's time, so they
 * are kept until the record is read whole. Not thread safe.
 */
final class TraceRanks {

    /** By their names in a trace, as `TRAIN`. */
    private static final Map<String, Phase> PHASES = phases();

    /** {@code gpu}: its name, empty for none; {@code moved}: when its progress last moved, s of the trace. */
    private record Rank(RankReading.Builder reading, JobIdentity job, String gpu, double moved) {}

    private final TraceFields fields;
    private final boolean heartbeats;
    private final List<Rank> ranks = new ArrayList<>();

    TraceRanks(TraceFields fields, boolean heartbeats) {
        this.fields = fields;
        this.heartbeats = heartbeats;
    }

    /** A new record begins. */
    void clear() {
        ranks.clear();
    }

    /** Reads the object whose start was just read. */
    void read() throws IOException {
        RankReading.Builder rank = RankReading.newBuilder();
        JobIdentity.Builder job = JobIdentity.newBuilder();
        String gpu = "";
        double moved = TraceFields.ABSENT;
        while (fields.next()) {
            String field = fields.field();
            if (fields.isNull()) {
                continue;
            }
            switch (field) {
                case "job" -> {
                    // The one that a heartbeat bears, and one that is there without: the two ways lead to one name.
                    job.setTorchelastic(fields.text());
                    if (heartbeats) {
                        job.setHeartbeat(fields.text());
                    }
                }
                case "epoch" -> {
                    job.setEpoch((int) fields.whole()).setEpochKnown(true);
                    rank.setStartTicks(fields.whole());
                }
                case "rank" -> rank.setRank((int) fields.whole());
                case "world" -> job.setWorld((int) fields.whole());
                case "pid" -> rank.setPid((int) fields.whole());
                case "gpu" -> gpu = fields.text();
                case "state" ->
                    rank.setState(fields.text().isEmpty() ? 0 : fields.text().charAt(0));
                case "cpu_ticks" -> rank.setCpuTicks(fields.whole());
                case "io_write_bytes" -> rank.setIoWriteKib(fields.whole() >> 10);
                case "tracer_pid" -> rank.setTracerPid((int) fields.whole());
                case "step" -> {
                    if (heartbeats) {
                        rank.setStep(fields.whole());
                    }
                }
                case "phase" -> {
                    if (heartbeats) {
                        rank.setPhase(phase(fields.text()));
                    }
                }
                case "progress_t" -> moved = fields.number();
                default -> fields.skip();
            }
        }
        ranks.add(new Rank(rank, job.build(), gpu, moved));
    }

    /** Adds all to the record, whose time is {@code t}, s of the trace. */
    void addTo(NodeSample.Builder next, TraceGpus gpus, double t) {
        for (Rank each : ranks) {
            int index = next.getJobsList().indexOf(each.job());
            if (index < 0) {
                index = next.getJobsCount();
                next.addJobs(each.job());
            }
            RankReading.Builder rank = each.reading().setJob(index);
            int gpu = gpus.indexOf(each.gpu());
            if (gpu >= 0) {
                rank.addGpus(gpu);
            }
            if (heartbeats && !Double.isNaN(each.moved())) {
                rank.setProgressAgeMs((int) Math.max(0, Math.round((t - each.moved()) * 1000)));
                rank.setHeartbeatAgeMs(0);
            }
            next.addRanks(rank);
        }
    }

    private Phase phase(String name) throws IOException {
        Phase known = PHASES.get(name);
        if (known == null) {
            throw fields.wrong("phase `" + name + "` is not known");
        }
        return known;
    }

    private static Map<String, Phase> phases() {
        Map<String, Phase> phases = new HashMap<>();
        for (Phase phase : Phase.values()) {
            phases.put(phase.name().replace("PHASE_", ""), phase);
        }
        return phases;
    }
}
