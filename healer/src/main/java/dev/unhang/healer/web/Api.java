package dev.unhang.healer.web;

import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.healer.text.SafeText;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The handlers of {@code /api/v1}. They read the views, on the event loop and without a lock, and never wait; the one
 * that writes hands its record to the {@link DecisionLog} and answers when that has answered.
 */
final class Api {

    private static final Logger log = LoggerFactory.getLogger(Api.class);
    private static final int USUAL_LIMIT = 1_000;
    private static final int MOST_LIMIT = 10_000;

    private final Views views;
    private final DecisionLog decisions;
    private final String mode;
    private final LongSupplier nanos;

    Api(Views views, DecisionLog decisions, String mode, LongSupplier nanos) {
        this.views = views;
        this.decisions = decisions;
        this.mode = mode;
        this.nanos = nanos;
    }

    /** Before all others: until the log was read once, what is missing from the views would look well. */
    void ready(RoutingContext context) {
        if (!views.everReady()) {
            throw Problem.unavailable(
                    "the healer has not read its log yet: " + views.unready().orElse("it has just begun"),
                    "try again in a few seconds; GET /readyz tells when");
        }
        views.unready().ifPresent(why -> context.response().putHeader("Unhang-Stale", ascii(why)));
        context.next();
    }

    void status(RoutingContext context) {
        json(context, StatusJson.of(views, mode, nanos.getAsLong()));
    }

    void incidents(RoutingContext context) {
        only(context, Set.of("state", "kind", "node", "limit"));
        String state = choice(context, "state", "open", Set.of("open", "closed", "all"));
        String kind = choice(context, "kind", "", kinds());
        String node = parameter(context, "node", "");
        Predicate<Incident> wanted = incident -> switch (state) {
            case "open" -> Words.open(incident);
            case "closed" -> !Words.open(incident);
            default -> true;
        };
        if (!kind.isEmpty()) {
            wanted = wanted.and(incident -> Words.of(incident.getKind()).equals(kind));
        }
        if (!node.isEmpty()) {
            wanted = wanted.and(incident -> touches(incident, node));
        }
        List<Incident> found = new ArrayList<>();
        for (Incident incident : views.incidents()) {
            if (wanted.test(incident)) {
                found.add(incident);
            }
        }
        found.sort(StatusJson.WORST_FIRST);
        JsonArray shown = new JsonArray();
        found.stream().limit(limit(context)).map(IncidentJson::of).forEach(shown::add);
        json(context, new JsonObject().put("incidents", shown).put("total", found.size()));
    }

    void incident(RoutingContext context) {
        String id = context.pathParam("id");
        Incident incident = views.incident(id)
                .orElseThrow(() -> Problem.notFound(
                        "there is no incident '" + id + "'",
                        "see GET /api/v1/incidents?state=all; old closed ones are in the journal only"));
        json(context, IncidentJson.withTimeline(incident, views.timeline(id)));
    }

    void nodes(RoutingContext context) {
        only(context, Set.of("watch", "limit"));
        String watch = choice(context, "watch", "", Set.of("watched", "silent", "unwatched", "unknown"));
        int limit = limit(context);
        JsonArray shown = new JsonArray();
        int total = 0;
        for (String name : views.nodes()) {
            if (watch.isEmpty() || watch.equals(NodeJson.watch(views.seen(name)))) {
                total++;
                if (total <= limit) {
                    shown.add(NodeJson.of(name, views));
                }
            }
        }
        json(context, new JsonObject().put("nodes", shown).put("total", total));
    }

    void node(RoutingContext context) {
        String name = context.pathParam("node");
        if (!views.knowsNode(name)) {
            throw Problem.notFound("there is no node '" + name + "'", "see GET /api/v1/nodes");
        }
        JsonObject json = NodeJson.detail(name, views);
        JsonArray incidents = new JsonArray();
        views.incidents().stream()
                .filter(incident -> Words.open(incident) && touches(incident, name))
                .sorted(StatusJson.WORST_FIRST)
                .map(IncidentJson::of)
                .forEach(incidents::add);
        json(context, json.put("incidents", incidents));
    }

    void decide(RoutingContext context) {
        String type = context.request().getHeader("Content-Type");
        if (type == null || !type.regionMatches(true, 0, "application/json", 0, 16)) {
            throw new Problem.ProblemException(Problem.ofStatus(415));
        }
        OperatorDecision decision = DecisionRequest.read(context.body().buffer(), views);
        views.unready().ifPresent(why -> {
            throw Problem.unavailable(
                    "nothing can be written to the log now: " + why, "try again when /readyz is well");
        });
        decisions
                .write(decision)
                .whenComplete((ignored, failure) -> context.vertx().runOnContext(run -> {
                    if (failure != null) {
                        log.atWarn()
                                .addKeyValue("verb", decision.getVerb())
                                .addKeyValue("target", SafeText.logged(decision.getTarget()))
                                .log("a decision could not be written: {}", failure.toString());
                        new Problem(
                                        503,
                                        "Not available",
                                        "the decision could not be written to the log",
                                        "send it again with the same id \"" + decision.getId() + "\"")
                                .answer(context);
                        return;
                    }
                    log.atInfo()
                            .addKeyValue("verb", decision.getVerb())
                            .addKeyValue("target", SafeText.logged(decision.getTarget()))
                            .addKeyValue("who", SafeText.logged(decision.getWho()))
                            .log("a decision was written to the log");
                    context.response().setStatusCode(202);
                    json(context, new JsonObject().put("id", decision.getId()).put("written", true));
                }));
    }

    /** What became of a decision. Not there yet is 404: the decider has not read it, or it was long ago. */
    void answer(RoutingContext context) {
        String id = context.pathParam("id");
        Answers.Answer answer = views.answer(id)
                .orElseThrow(() -> Problem.notFound(
                        "no decider has answered a decision '" + id + "'",
                        "ask again in a second; old answers are in the journal only"));
        json(
                context,
                new JsonObject()
                        .put("id", id)
                        .put("refused", answer.refused())
                        .put("sentences", new JsonArray(answer.sentences())));
    }

    private static void json(RoutingContext context, JsonObject json) {
        if (!context.response().closed()) {
            context.response().putHeader("Content-Type", "application/json").end(json.toBuffer());
        }
    }

    private static boolean touches(Incident incident, String node) {
        return incident.getFinding().getNodesList().contains(node)
                || incident.getSubject().equals("node:" + node)
                || incident.getFinding().getSuspectsList().stream()
                        .anyMatch(suspect -> suspect.getNode().equals(node));
    }

    private static Set<String> kinds() {
        Set<String> kinds = new TreeSet<>();
        Arrays.stream(IncidentKind.values())
                .filter(kind -> kind != IncidentKind.UNRECOGNIZED && kind != IncidentKind.INCIDENT_KIND_UNSPECIFIED)
                .map(Words::of)
                .forEach(kinds::add);
        return kinds;
    }

    private static void only(RoutingContext context, Set<String> known) {
        for (String name : context.queryParams().names()) {
            if (!known.contains(name)) {
                throw Problem.badRequest(
                        "there is no parameter '" + name + "' here", "use " + String.join(", ", new TreeSet<>(known)));
            }
        }
    }

    private static String choice(RoutingContext context, String name, String fallback, Set<String> choices) {
        String value = parameter(context, name, fallback);
        if (!value.equals(fallback) && !choices.contains(value)) {
            throw Problem.badRequest(
                    name + " is '" + value + "'", "use one of " + String.join(", ", new TreeSet<>(choices)));
        }
        return value;
    }

    private static int limit(RoutingContext context) {
        String value = parameter(context, "limit", Integer.toString(USUAL_LIMIT));
        try {
            int limit = Integer.parseInt(value);
            if (limit >= 1 && limit <= MOST_LIMIT) {
                return limit;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw Problem.badRequest("limit is '" + value + "'", "use a number from 1 to " + MOST_LIMIT);
    }

    private static String parameter(RoutingContext context, String name, String fallback) {
        List<String> values = context.queryParam(name);
        if (values.size() > 1) {
            throw Problem.badRequest(name + " stands there " + values.size() + " times", "give it once");
        }
        return values.isEmpty() || values.get(0).isEmpty() ? fallback : values.get(0);
    }

    private static String ascii(String text) {
        return text.replaceAll("[^ -~]", "?");
    }
}
