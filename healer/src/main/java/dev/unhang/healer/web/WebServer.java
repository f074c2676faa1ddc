package dev.unhang.healer.web;

import dev.unhang.healer.text.SafeText;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.HttpException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The healer's HTTP: {@code /healthz} and {@code /readyz} for all, and behind the bearer token {@code /metrics} and
 * {@code /api/v1}. Handlers run on Vert.x's event loops and only read immutable values. Errors are RFC 9457 problems.
 */
public final class WebServer {

    /** The largest body that is read. */
    public static final int MOST_BODY_BYTES = 64 * 1024;

    private static final Logger log = LoggerFactory.getLogger(WebServer.class);

    private final HttpServer server;

    /**
     * What is served.
     *
     * @param mode {@code observe}, {@code approve} or {@code enforce}; shown
     * @param alive why this instance is not ready beside its views, as a loop of the intake that ended; empty while all
     *     is well; asked on an event loop, so it must not wait
     * @param scrape the metrics in Prometheus' text format
     * @param nanos monotonic time, ns
     */
    public record Parts(
            Views views,
            DecisionLog decisions,
            String mode,
            Supplier<Optional<String>> alive,
            Supplier<String> scrape,
            LongSupplier nanos) {}

    private WebServer(HttpServer server) {
        this.server = server;
    }

    /** Listens. Fails when the address is taken; the token was read before, so a bad one has failed already. */
    public static Future<WebServer> start(Vertx vertx, WebConfig config, Token token, Parts parts) {
        HttpServerOptions options = new HttpServerOptions()
                .setHost(config.host())
                .setPort(config.port())
                .setIdleTimeout(Math.toIntExact(config.idle().toMillis()))
                .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
                .setMaxHeaderSize(8 * 1024)
                .setMaxInitialLineLength(4 * 1024)
                .setHttp2ClearTextEnabled(false)
                .setCompressionSupported(true);
        Connections connections = new Connections(config.mostConnections());
        return vertx.createHttpServer(options)
                .connectionHandler(connections::opened)
                .requestHandler(router(vertx, token, parts))
                .listen()
                .map(WebServer::new)
                .onSuccess(started -> log.info("HTTP listens on {}:{}", config.host(), started.port()));
    }

    public int port() {
        return server.actualPort();
    }

    public Future<Void> close() {
        return server.close();
    }

    private static Router router(Vertx vertx, Token token, Parts parts) {
        Api api = new Api(parts.views(), parts.decisions(), parts.mode(), parts.nanos());
        Router router = Router.router(vertx);
        router.route().handler(WebServer::headers);
        router.get("/healthz").handler(context -> json(context, 200, new JsonObject().put("status", "up")));
        router.get("/readyz").handler(context -> readiness(context, parts));
        router.route().handler(context -> authorize(context, token));
        router.get("/metrics")
                .handler(context -> context.response()
                        .putHeader("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                        .end(parts.scrape().get()));
        router.route("/api/v1/*").handler(api::ready);
        router.get("/api/v1/status").handler(api::status);
        router.get("/api/v1/nodes").handler(api::nodes);
        router.get("/api/v1/nodes/:node").handler(api::node);
        router.get("/api/v1/incidents").handler(api::incidents);
        router.get("/api/v1/incidents/:id").handler(api::incident);
        router.get("/api/v1/decisions/:id").handler(api::answer);
        router.post("/api/v1/decisions")
                .handler(BodyHandler.create(false).setBodyLimit(MOST_BODY_BYTES))
                .handler(api::decide);
        router.route().failureHandler(WebServer::fail);
        for (int status : new int[] {400, 404, 405, 413, 415, 500}) {
            router.errorHandler(status, context -> Problem.ofStatus(status).answer(context));
        }
        return router;
    }

    /** Strict until there is a page to show: nothing may be guessed, stored, framed or loaded. */
    private static void headers(RoutingContext context) {
        HttpServerResponse response = context.response();
        response.putHeader("X-Content-Type-Options", "nosniff")
                .putHeader("Cache-Control", "no-store")
                .putHeader("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
                .putHeader("Referrer-Policy", "no-referrer");
        context.next();
    }

    private static void authorize(RoutingContext context, Token token) {
        String authorization = context.request().getHeader("Authorization");
        if (token.isBorneBy(authorization)) {
            context.next();
            return;
        }
        context.response()
                .putHeader(
                        "WWW-Authenticate",
                        authorization == null
                                ? "Bearer realm=\"unhang\""
                                : "Bearer realm=\"unhang\", error=\"invalid_token\"");
        new Problem(
                        401,
                        "Unauthorized",
                        authorization == null ? "the request bears no token" : "the token is not this healer's",
                        "send `Authorization: Bearer TOKEN` with the content of the healer's http.token-file")
                .answer(context);
    }

    private static void readiness(RoutingContext context, Parts parts) {
        List<String> reasons = new ArrayList<>();
        parts.views().unready().ifPresent(reasons::add);
        parts.alive().get().ifPresent(reasons::add);
        json(
                context,
                reasons.isEmpty() ? 200 : 503,
                new JsonObject().put("ready", reasons.isEmpty()).put("reasons", new JsonArray(reasons)));
    }

    private static void json(RoutingContext context, int status, JsonObject json) {
        context.response()
                .setStatusCode(status)
                .putHeader("Content-Type", "application/json")
                .end(json.toBuffer());
    }

    private static void fail(RoutingContext context) {
        Throwable failure = context.failure();
        if (failure instanceof Problem.ProblemException refused) {
            refused.problem().answer(context);
        } else if (failure instanceof HttpException http) {
            Problem.ofStatus(http.getStatusCode()).answer(context);
        } else if (failure == null) {
            Problem.ofStatus(context.statusCode()).answer(context);
        } else {
            log.atError()
                    .setCause(failure)
                    .log(
                            "a request failed: {}",
                            SafeText.logged(context.request().path()));
            Problem.ofStatus(500).answer(context);
        }
    }
}
