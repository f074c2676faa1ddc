package dev.unhang.healer.web;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.unhang.events.v1.GpuReport;
import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeState;
import dev.unhang.events.v1.RankReport;
import dev.unhang.events.v1.Watch;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * How a node reads in JSON: in lists its watch and counts, alone all that its last report says. Units are in the names.
 * What was not read is left out, since that is never the same as zero.
 */
final class NodeJson {

    private NodeJson() {}

    /** One line of the list. {@code watch} is {@code unknown} for a node of which only the state knows. */
    static JsonObject of(String name, Views views) {
        JsonObject json = new JsonObject().put("node", name);
        Optional<SeenNode> seen = views.seen(name);
        json.put("watch", watch(seen));
        seen.ifPresent(node -> {
            json.put("covered", views.covered(node.partition()))
                    .put("well", node.well())
                    .put("gpus", node.gpus())
                    .put("gpusFaulty", node.gpusFaulty())
                    .put("nics", node.nics())
                    .put("nicsDown", node.nicsDown())
                    .put("ranks", node.ranks());
            node.clockOffsetNs().ifPresent(offset -> json.put("clockOffsetSeconds", offset / 1e9));
            IncidentJson.time(json, "sampled", node.stampMs());
        });
        views.nodeState(name).ifPresent(state -> state(json, state, views));
        return json;
    }

    static String watch(Optional<SeenNode> seen) {
        return seen.map(node -> node.watch() == Watch.WATCH_UNSPECIFIED ? "unknown" : Words.of(node.watch(), "WATCH_"))
                .orElse("unknown");
    }

    static JsonObject detail(String name, Views views) {
        JsonObject json = of(name, views);
        Optional<SeenNode> seen = views.seen(name);
        if (seen.isEmpty()) {
            return json;
        }
        NodeReport report;
        try {
            report = NodeReport.parseFrom(seen.get().report());
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("a report that was parsed before cannot be parsed", e);
        }
        JsonArray gpus = new JsonArray();
        report.getGpusList().forEach(gpu -> gpus.add(gpu(gpu)));
        JsonArray nics = new JsonArray();
        report.getNicsList().forEach(nic -> nics.add(nic(nic)));
        JsonArray ranks = new JsonArray();
        report.getRanksList().forEach(rank -> ranks.add(rank(rank)));
        JsonObject labels = new JsonObject();
        report.getLabelsMap().forEach(labels::put);
        return json.put("silentSeconds", Integer.toUnsignedLong(report.getSilentMs()) / 1e3)
                .put("labels", labels)
                .put("notes", new JsonArray(List.copyOf(report.getNotesList())))
                .put("gpuList", gpus)
                .put("nicList", nics)
                .put("rankList", ranks);
    }

    private static void state(JsonObject json, NodeState state, Views views) {
        long nowLogMs = views.position().getLogTimeMs();
        if (state.hasMaintenanceUntilLogMs() && state.getMaintenanceUntilLogMs() > nowLogMs) {
            json.put("maintenanceSeconds", (state.getMaintenanceUntilLogMs() - nowLogMs) / 1000);
        }
        IncidentJson.text(json, "takenBy", state.getTakenBy());
        IncidentJson.text(json, "lockedBy", state.getLockedBy());
    }

    private static JsonObject gpu(GpuReport gpu) {
        JsonObject json = new JsonObject()
                .put("uuid", uuid(gpu.getUuid()))
                .put("activity", Words.of(gpu.getActivity(), "ACTIVITY_CLASS_"))
                .put("status", Words.of(gpu.getStatus(), "READ_STATUS_"));
        if (gpu.hasUtil()) {
            json.put("utilPercent", gpu.getUtil());
        }
        if (gpu.hasPowerMw()) {
            json.put("powerWatts", Integer.toUnsignedLong(gpu.getPowerMw()) / 1e3);
        }
        if (gpu.hasTempC()) {
            json.put("celsius", gpu.getTempC());
        }
        if (gpu.hasMemUsedMib()) {
            json.put("memoryUsedMiB", gpu.getMemUsedMib());
        }
        return json.put("pids", new JsonArray(List.copyOf(gpu.getPidsList())));
    }

    private static JsonObject nic(NicReport nic) {
        JsonObject json = new JsonObject()
                .put("id", nic.getId())
                .put("name", nic.getName())
                .put("state", Words.of(nic.getState(), "OPER_STATE_"))
                .put("down", SeenNode.down(nic));
        if (nic.hasRxBps()) {
            json.put("rxBytesPerSecond", nic.getRxBps());
        }
        if (nic.hasTxBps()) {
            json.put("txBytesPerSecond", nic.getTxBps());
        }
        return json;
    }

    private static JsonObject rank(RankReport rank) {
        JsonObject json = new JsonObject()
                .put("job", job(rank))
                .put("rank", Integer.toUnsignedLong(rank.getRank()))
                .put("pid", rank.getPid())
                .put("activity", Words.of(rank.getActivity(), "ACTIVITY_CLASS_"))
                .put("activitySeconds", Integer.toUnsignedLong(rank.getActivityMs()) / 1e3)
                .put("phase", Words.of(rank.getPhase(), "PHASE_"));
        if (rank.getState() > 0x20 && rank.getState() < 0x7f) {
            json.put("processState", Character.toString(rank.getState()));
        }
        if (rank.hasStep()) {
            json.put("step", rank.getStep());
        }
        if (rank.hasProgressAgeMs()) {
            json.put("progressAgeSeconds", Integer.toUnsignedLong(rank.getProgressAgeMs()) / 1e3);
        }
        if (rank.hasTrafficBps()) {
            json.put("trafficBytesPerSecond", rank.getTrafficBps());
        }
        return json.put("evidence", new JsonArray(List.copyOf(rank.getEvidenceList())));
    }

    /** The first identity present, in the order in which jobs are named. */
    private static String job(RankReport rank) {
        for (String name : List.of(
                rank.getJob().getHeartbeat(),
                rank.getJob().getSlurm(),
                rank.getJob().getK8S(),
                rank.getJob().getTorchelastic(),
                rank.getJob().getMaster())) {
            if (!name.isEmpty()) {
                return name;
            }
        }
        return rank.getJob().getLocal();
    }

    /** As nvidia-smi writes it: {@code GPU-8-4-4-4-12}; anything but 16 bytes as plain hex. */
    static String uuid(ByteString bytes) {
        String hex = HexFormat.of().formatHex(bytes.toByteArray());
        if (hex.length() != 32) {
            return hex;
        }
        return "GPU-" + hex.substring(0, 8) + "-" + hex.substring(8, 12) + "-" + hex.substring(12, 16) + "-"
                + hex.substring(16, 20) + "-" + hex.substring(20);
    }
}
