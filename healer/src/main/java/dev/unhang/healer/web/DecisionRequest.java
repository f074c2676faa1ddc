package dev.unhang.healer.web;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.OperatorDecision;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Reads the body of {@code POST /api/v1/decisions} and checks it against the views: {@code verb}, {@code target},
 * {@code who}, {@code why}, {@code forSeconds}, and {@code id}, by which a repeat changes nothing. A check here only
 * spares a person a surprise; whether the decision still holds is the decider's to say when it reads it. Stateless.
 */
final class DecisionRequest {

    private static final int MOST_WHO = 200;
    private static final int MOST_WHY = 2_000;
    private static final int MOST_TARGET = 500;
    private static final Duration MOST_FOR = Duration.ofDays(30);

    private enum Target {
        NONE,
        INCIDENT,
        NODE
    }

    /** What a verb needs: a target of some kind, and a reason where something is given up or stopped by it. */
    private record Verb(Target target, boolean why, boolean timed) {}

    private static final Map<String, Verb> VERBS = new TreeMap<>(Map.of(
            "approve", new Verb(Target.INCIDENT, false, false),
            "deny", new Verb(Target.INCIDENT, true, false),
            "dismiss", new Verb(Target.INCIDENT, true, false),
            "forget", new Verb(Target.NODE, true, false),
            "pause", new Verb(Target.NONE, true, false),
            "resume", new Verb(Target.NONE, false, false),
            "maintenance", new Verb(Target.NODE, true, true),
            "take", new Verb(Target.NODE, true, false),
            "give", new Verb(Target.NODE, false, false)));

    private DecisionRequest() {}

    static OperatorDecision read(Buffer body, Views views) {
        JsonObject json;
        try {
            json = body.toJsonObject();
        } catch (DecodeException | ClassCastException e) {
            throw Problem.badRequest(
                    "the body is no JSON object", "send {\"verb\":…,\"target\":…,\"who\":…,\"why\":…}");
        }
        if (json == null) {
            throw Problem.badRequest("the body is empty", "send {\"verb\":…,\"target\":…,\"who\":…,\"why\":…}");
        }
        TreeSet<String> unknown = new TreeSet<>(json.fieldNames());
        for (String known : new String[] {"verb", "target", "who", "why", "forSeconds", "id"}) {
            unknown.remove(known);
        }
        if (!unknown.isEmpty()) {
            throw Problem.badRequest(
                    "the body has unknown members: " + shortened(String.join(", ", unknown)), "leave them out");
        }
        String name = text(json, "verb", 40, true);
        Verb verb = Optional.ofNullable(VERBS.get(name))
                .orElseThrow(() -> Problem.badRequest(
                        "verb is '" + name + "'", "send one of " + String.join(", ", VERBS.keySet())));
        String target = target(json, name, verb, views);
        OperatorDecision.Builder decision = OperatorDecision.newBuilder()
                .setVerb(name)
                .setTarget(target)
                .setWho(text(json, "who", MOST_WHO, true))
                .setWhy(text(json, "why", MOST_WHY, verb.why()));
        if (verb.timed()) {
            decision.setForMs(seconds(json) * 1_000);
        } else if (json.containsKey("forSeconds")) {
            throw Problem.badRequest("forSeconds has no meaning for " + name, "leave it out");
        }
        String id = text(json, "id", 100, false);
        return decision.setId(id.isEmpty() ? UUID.randomUUID().toString() : id).build();
    }

    private static String target(JsonObject json, String name, Verb verb, Views views) {
        String target = text(json, "target", MOST_TARGET, verb.target() != Target.NONE);
        switch (verb.target()) {
            case NONE -> {
                if (!target.isEmpty()) {
                    throw Problem.badRequest(name + " takes no target", "leave target out");
                }
            }
            case INCIDENT -> {
                Incident incident = views.incident(target)
                        .orElseThrow(() -> Problem.notFound(
                                "there is no incident '" + shortened(target) + "'", "see GET /api/v1/incidents"));
                if (!Words.open(incident)) {
                    throw Problem.conflict(
                            target + " is " + Words.of(incident.getState()) + " already", "nothing is left to do");
                }
            }
            case NODE -> {
                if (!views.knowsNode(target)) {
                    throw Problem.notFound("there is no node '" + shortened(target) + "'", "see GET /api/v1/nodes");
                }
            }
        }
        return target;
    }

    private static long seconds(JsonObject json) {
        Object value = json.getValue("forSeconds");
        if (value instanceof Integer || value instanceof Long) {
            long seconds = ((Number) value).longValue();
            if (seconds >= 0 && seconds <= MOST_FOR.toSeconds()) {
                return seconds;
            }
        }
        throw Problem.badRequest(
                value == null ? "forSeconds is missing" : "forSeconds is " + shortened(value.toString()),
                "send a whole number from 0, which ends it, to " + MOST_FOR.toSeconds());
    }

    private static String text(JsonObject json, String member, int most, boolean required) {
        Object value = json.getValue(member);
        if (value == null && !required) {
            return "";
        }
        if (!(value instanceof String text)) {
            throw Problem.badRequest(
                    member + (value == null ? " is missing" : " is no text"),
                    "send it as text of 1 to " + most + " characters");
        }
        if (text.length() > most || (required && text.isBlank())) {
            throw Problem.badRequest(
                    member + " has " + text.length() + " characters" + (text.isBlank() ? " and says nothing" : ""),
                    "send 1 to " + most + " characters");
        }
        return text;
    }

    private static String shortened(String text) {
        return text.length() <= 100 ? text : text.substring(0, 100) + "…";
    }
}
