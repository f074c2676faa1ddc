package dev.unhang.collector.serve;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.parsetools.RecordParser;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves {@code /metrics} and {@code /healthz} over HTTP and the local commands over a unix socket, on one event loop of
 * Vert.x. A failure to listen is told and survived: a node is watched even when nobody can ask it.
 */
public final class CollectorServer implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(CollectorServer.class);
    private static final String GROUP = "unhang";
    private static final int MAX_LINE = 256;
    private static final int IDLE_SECONDS = 10;

    /** Longer than the usual intervals of scrapes, so that a connection is kept and not closed under a request. */
    private static final int HTTP_IDLE_SECONDS = 90;

    private static final int BACKLOG = 16;

    private final LocalCommands commands;
    private final CollectorMetrics metrics;
    private final Vertx vertx = Vertx.vertx(new VertxOptions()
            .setEventLoopPoolSize(1)
            .setWorkerPoolSize(1)
            .setInternalBlockingPoolSize(1)
            .setFileSystemOptions(
                    new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false)));

    public CollectorServer(LocalCommands commands, CollectorMetrics metrics) {
        this.commands = commands;
        this.metrics = metrics;
    }

    /** Listens for HTTP; the port that it got, which is of use when {@code port} is 0, or -1 when it could not. */
    public int listen(String host, int port) {
        HttpServerOptions options = new HttpServerOptions()
                .setIdleTimeout(HTTP_IDLE_SECONDS)
                .setAcceptBacklog(BACKLOG)
                .setMaxInitialLineLength(1024)
                .setMaxHeaderSize(8192);
        try {
            int listens = done(vertx.createHttpServer(options)
                            .requestHandler(this::answer)
                            .listen(port, host))
                    .actualPort();
            tellWhoMayAsk(host, listens);
            return listens;
        } catch (IOException e) {
            log.warn("metrics are not served, {}:{} cannot be listened on: {}", host, port, e.getMessage());
            return -1;
        }
    }

    /** Listens on the unix socket; false when it could not. A socket file that an earlier run left is replaced. */
    public boolean listen(Path socket) {
        try {
            Path folder = socket.toAbsolutePath().getParent();
            if (folder != null) {
                Files.createDirectories(folder);
            }
            if (Files.exists(socket, LinkOption.NOFOLLOW_LINKS)) {
                removeStale(socket);
            }
            NetServerOptions options =
                    new NetServerOptions().setIdleTimeout(IDLE_SECONDS).setAcceptBacklog(BACKLOG);
            done(vertx.createNetServer(options)
                    .connectHandler(this::converse)
                    .listen(SocketAddress.domainSocketAddress(socket.toString())));
            restrict(socket);
            return true;
        } catch (IOException e) {
            log.warn("local commands are not taken, {} cannot be listened on: {}", socket, e.getMessage());
            return false;
        }
    }

    /** There is no token here, so the log says to whom the metrics are open. */
    private static void tellWhoMayAsk(String host, int port) throws IOException {
        if (InetAddress.getByName(host).isLoopbackAddress()) {
            log.info("metrics on {}:{}, open without a token to all users of this machine", host, port);
        } else {
            log.warn(
                    "metrics on {}:{}, open without a token to whoever reaches this address: names of jobs, NICs and GPUs"
                            + " stand in them; set serve.listen to 127.0.0.1:{}, or keep a network policy before it",
                    host,
                    port,
                    port);
        }
    }

    @Override
    public void close() {
        try {
            vertx.close().toCompletionStage().toCompletableFuture().get(2, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (java.util.concurrent.ExecutionException | TimeoutException e) {
            log.debug("the server did not end in time", e);
        }
    }

    private void answer(HttpServerRequest request) {
        HttpServerResponse response = request.response();
        if (!"GET".equals(request.method().name())) {
            response.setStatusCode(405).end();
            return;
        }
        switch (request.path()) {
            case "/metrics" ->
                response.putHeader("content-type", CollectorMetrics.CONTENT_TYPE)
                        .end(metrics.scrape());
            case "/healthz" -> {
                JsonObject status = commands.status();
                response.setStatusCode(commands.alive() ? 200 : 503)
                        .putHeader("content-type", "application/json")
                        .end(status.encode() + "\n");
            }
            default -> response.setStatusCode(404).end("here are /metrics and /healthz\n");
        }
    }

    private void converse(NetSocket socket) {
        RecordParser lines = RecordParser.newDelimited("\n", socket);
        lines.maxRecordSize(MAX_LINE);
        lines.exceptionHandler(e -> socket.end(line(
                new JsonObject().put("ok", false).put("detail", "a command has at most " + MAX_LINE + " characters"))));
        // A release waits for calls into the driver, so it is not for the event loop.
        lines.handler(command -> vertx.executeBlocking(() -> commands.answer(command.toString()), true)
                .onSuccess(answer -> socket.write(line(answer)))
                .onFailure(e -> socket.end(
                        line(new JsonObject().put("ok", false).put("detail", String.valueOf(e.getMessage()))))));
    }

    private static io.vertx.core.buffer.Buffer line(JsonObject object) {
        return io.vertx.core.buffer.Buffer.buffer(object.encode() + "\n");
    }

    /** Only a socket is removed; anything else that stands there is somebody's file. */
    private static void removeStale(Path socket) throws IOException {
        if (!Files.readAttributes(socket, java.nio.file.attribute.BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .isOther()) {
            throw new FileSystemException(socket.toString(), null, "it is there and is no socket; move it away");
        }
        Files.delete(socket);
    }

    /** For root and the group unhang; for root alone where there is no such group. */
    private static void restrict(Path socket) throws IOException {
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw----"));
        try {
            Files.getFileAttributeView(socket, PosixFileAttributeView.class)
                    .setGroup(socket.getFileSystem()
                            .getUserPrincipalLookupService()
                            .lookupPrincipalByGroupName(GROUP));
        } catch (UserPrincipalNotFoundException e) {
            log.debug("there is no group {}: the socket is for its owner's group", GROUP);
        } catch (FileSystemException e) {
            log.debug("the socket stays with the group of this process: {}", e.getMessage());
        }
    }

    private static <T> T done(Future<T> future) throws IOException {
        try {
            return future.toCompletionStage().toCompletableFuture().get(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (java.util.concurrent.ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException(cause.getMessage(), cause);
        } catch (TimeoutException e) {
            throw new IOException("no answer within 5 s", e);
        }
    }
}
