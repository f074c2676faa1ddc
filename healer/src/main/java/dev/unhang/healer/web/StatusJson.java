package dev.unhang.healer.web;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.Severity;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The whole at a glance, in the order in which a person asks: is anything wrong, what, who is to blame, who is watched,
 * is the healer blind, in which mode does it run. {@code verdict} is {@code wrong} with a confirmed incident,
 * {@code blind} where something is not seen, {@code suspected} with suspicions only, else {@code well}.
 */
final class StatusJson {

    private static final int MOST_NAMED = 20;

    /** Worst first: confirmed before suspected, critical before warning, then the oldest. */
    static final Comparator<Incident> WORST_FIRST = Comparator.comparing(Words::open)
            .thenComparing(Words::confirmed)
            .thenComparingInt(incident -> incident.getSeverity() == Severity.UNRECOGNIZED
                    ? 0
                    : incident.getSeverity().getNumber())
            .reversed()
            .thenComparingLong(Incident::getOpenedStampMs)
            .thenComparing(Incident::getId);

    private StatusJson() {}

    static JsonObject of(Views views, String mode, long nowNs) {
        List<Incident> open = new ArrayList<>();
        for (Incident incident : views.incidents()) {
            if (Words.open(incident)) {
                open.add(incident);
            }
        }
        open.sort(WORST_FIRST);
        long confirmed = open.stream().filter(Words::confirmed).count();
        List<String> blind = views.blind(nowNs);
        String verdict = confirmed > 0 ? "wrong" : !blind.isEmpty() ? "blind" : open.isEmpty() ? "well" : "suspected";
        JsonArray worst = new JsonArray();
        open.stream().limit(MOST_NAMED).map(IncidentJson::of).forEach(worst::add);
        JsonObject json = new JsonObject()
                .put("verdict", verdict)
                .put("confirmed", confirmed)
                .put("suspected", open.size() - confirmed)
                .put("incidents", worst);
        nodes(json, views);
        json.put("blind", new JsonArray(blind))
                .put("mode", mode)
                .put("paused", views.pause().getPaused());
        if (views.pause().getPaused()) {
            json.put("pausedBy", views.pause().getWho())
                    .put("pausedWhy", views.pause().getWhy());
        }
        if (views.nodesLeftOut() > 0) {
            json.put("nodesLeftOut", views.nodesLeftOut());
        }
        json.put(
                "decider",
                new JsonObject()
                        .put("id", views.position().getDecider())
                        .put("epoch", views.position().getEpoch())
                        .put("inboxOffset", views.position().getInboxOffset())
                        .put("logTimeSeconds", views.position().getLogTimeMs() / 1e3));
        IncidentJson.time(json, "asOf", views.position().getLastStampMs());
        return json;
    }

    private static void nodes(JsonObject json, Views views) {
        int watched = 0;
        int unwatched = 0;
        int unknown = 0;
        int silent = 0;
        int notCovered = 0;
        JsonArray silentNames = new JsonArray();
        JsonArray unwatchedNames = new JsonArray();
        int gpus = 0;
        int gpusFaulty = 0;
        int nics = 0;
        int nicsDown = 0;
        for (String name : views.nodes()) {
            Optional<SeenNode> found = views.seen(name);
            switch (NodeJson.watch(found)) {
                case "watched" -> watched++;
                case "silent" -> {
                    silent++;
                    addSome(silentNames, name);
                }
                case "unwatched" -> {
                    unwatched++;
                    addSome(unwatchedNames, name);
                }
                default -> unknown++;
            }
            if (found.isPresent()) {
                SeenNode node = found.get();
                gpus += node.gpus();
                gpusFaulty += node.gpusFaulty();
                nics += node.nics();
                nicsDown += node.nicsDown();
                notCovered += views.covered(node.partition()) ? 0 : 1;
            }
        }
        json.put(
                        "nodes",
                        new JsonObject()
                                .put("watched", watched)
                                .put("silent", silent)
                                .put("unwatched", unwatched)
                                .put("unknown", unknown)
                                .put("notCovered", notCovered)
                                .put("silentNames", silentNames)
                                .put("unwatchedNames", unwatchedNames))
                .put("gpus", new JsonObject().put("seen", gpus).put("faulty", gpusFaulty))
                .put("nics", new JsonObject().put("seen", nics).put("down", nicsDown));
    }

    private static void addSome(JsonArray names, String name) {
        if (names.size() < MOST_NAMED) {
            names.add(name);
        }
    }
}
