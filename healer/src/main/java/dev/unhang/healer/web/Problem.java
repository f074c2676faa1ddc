package dev.unhang.healer.web;

import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;

/**
 * An answer that is no success, as RFC 9457 writes it. {@code detail} says what and where; {@code mend}, a member of
 * ours, says what to do about it.
 */
record Problem(int status, String title, String detail, String mend) {

    /** The request is refused with this problem; thrown by handlers, answered in one place. */
    static final class ProblemException extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient Problem problem;

        ProblemException(Problem problem) {
            super(problem.detail(), null, false, false);
            this.problem = problem;
        }

        Problem problem() {
            return problem;
        }
    }

    static ProblemException badRequest(String detail, String mend) {
        return new ProblemException(new Problem(400, "Bad request", detail, mend));
    }

    static ProblemException notFound(String detail, String mend) {
        return new ProblemException(new Problem(404, "Not found", detail, mend));
    }

    static ProblemException conflict(String detail, String mend) {
        return new ProblemException(new Problem(409, "Conflict", detail, mend));
    }

    static ProblemException unavailable(String detail, String mend) {
        return new ProblemException(new Problem(503, "Not available", detail, mend));
    }

    /** For what the router itself refuses. */
    static Problem ofStatus(int status) {
        return switch (status) {
            case 400 -> new Problem(400, "Bad request", "the request cannot be read", "see docs/reference/http.md");
            case 404 -> new Problem(404, "Not found", "there is nothing at this path", "see docs/reference/http.md");
            case 405 ->
                new Problem(
                        405, "Method not allowed", "this path does not take this method", "see docs/reference/http.md");
            case 413 ->
                new Problem(
                        413,
                        "Content too large",
                        "the body is larger than " + WebServer.MOST_BODY_BYTES + " bytes",
                        "send a shorter one");
            case 415 ->
                new Problem(
                        415,
                        "Unsupported media type",
                        "the body must be application/json",
                        "set Content-Type: application/json");
            default ->
                new Problem(
                        status < 400 ? 500 : status,
                        "Internal error",
                        "the healer failed to answer",
                        "its log tells why; please report it");
        };
    }

    void answer(RoutingContext context) {
        if (context.response().ended() || context.response().closed()) {
            return;
        }
        if (status == 413) {
            context.response().putHeader("Connection", "close");
        }
        context.response()
                .setStatusCode(status)
                .putHeader("Content-Type", "application/problem+json")
                .end(new JsonObject()
                        .put("type", "about:blank")
                        .put("title", title)
                        .put("status", status)
                        .put("detail", detail)
                        .put("mend", mend)
                        .toBuffer());
    }
}
