package dev.unhang.healer;

import dev.unhang.healer.act.AtScheduler;
import dev.unhang.healer.act.SchedulerConfig;
import dev.unhang.healer.policy.Mode;
import dev.unhang.healer.policy.Playbook;
import dev.unhang.healer.policy.Policy;
import dev.unhang.healer.web.DecisionWriter;
import dev.unhang.healer.web.HealerMetrics;
import dev.unhang.healer.web.Token;
import dev.unhang.healer.web.Views;
import dev.unhang.healer.web.ViewsFollower;
import dev.unhang.healer.web.WebConfig;
import dev.unhang.healer.web.WebServer;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Settings;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A whole healer: the {@link Daemon} that judges and decides, the views of the log, and the HTTP that shows them. HTTP
 * is there first, so that a healer which waits for its broker can say so. Any thread may call.
 */
public final class Healer implements AutoCloseable {

    private static final long LISTEN_WITHIN_S = 20;

    private final Vertx vertx;
    private final WebServer server;
    private final ViewsFollower follower;
    private final DecisionWriter decisions;
    private final HealerMetrics metrics;
    private final Daemon daemon;
    private final @Nullable AtScheduler scheduler;

    /** What one file says, checked as a whole. */
    public record Config(HealerConfig healer, WebConfig web, SchedulerConfig scheduler, Token token) {

        /**
         * Reads the file; {@code defaultId} is the healer's name where the file gives none.
         *
         * @throws BadSettingsException with all mistakes of the file
         * @throws IOException when the file or the token's cannot be read, or the token's is open to others
         */
        public static Config read(Path file, Map<String, String> environment, String defaultId)
                throws IOException, BadSettingsException {
            Settings settings = Settings.read(file, environment);
            HealerConfig healer = HealerConfig.from(settings, defaultId);
            WebConfig web = WebConfig.from(settings);
            SchedulerConfig scheduler = SchedulerConfig.from(settings);
            settings.finish();
            Path token = web.tokenFile();
            if (token == null) {
                throw new IOException("http.token-file is missing");
            }
            return new Config(healer, web, scheduler, Token.read(token));
        }
    }

    private Healer(
            Vertx vertx,
            WebServer server,
            ViewsFollower follower,
            DecisionWriter decisions,
            HealerMetrics metrics,
            Daemon daemon,
            @Nullable AtScheduler scheduler) {
        this.vertx = vertx;
        this.server = server;
        this.follower = follower;
        this.decisions = decisions;
        this.metrics = metrics;
        this.daemon = daemon;
        this.scheduler = scheduler;
    }

    /** Starts, also while no broker answers. Fails only when it cannot listen. */
    public static Healer start(Config config, Clock clock, LongSupplier nanos) throws IOException {
        Map<String, Object> client = config.healer().brokers().client();
        String prefix = config.healer().brokers().prefix();
        Views views = new Views(Views.Limits.USUAL);
        HealerMetrics metrics = new HealerMetrics(views, nanos);
        Daemon daemon = Daemon.start(config.healer(), metrics, clock, nanos);
        ViewsFollower follower = ViewsFollower.start(client, prefix, views, clock, nanos);
        DecisionWriter decisions =
                DecisionWriter.open(client, prefix, config.healer().id(), clock);
        Vertx vertx = Vertx.vertx();
        WebServer.Parts parts = new WebServer.Parts(
                views,
                decisions,
                mode(config.healer().orders().policy()),
                () -> trouble(daemon, follower),
                metrics::scrape,
                nanos);
        try {
            WebServer server = WebServer.start(vertx, config.web(), config.token(), parts)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get(LISTEN_WITHIN_S, TimeUnit.SECONDS);
            return new Healer(
                    vertx, server, follower, decisions, metrics, daemon, atScheduler(config, metrics, clock, nanos));
        } catch (ExecutionException | TimeoutException | InterruptedException e) {
            daemon.close();
            follower.close();
            decisions.close();
            metrics.close();
            vertx.close();
            throw new IOException(
                    "cannot listen on " + config.web().host() + ":"
                            + config.web().port() + " (" + (e.getCause() == null ? e : e.getCause())
                            + "): choose another http.port",
                    e);
        }
    }

    /** Where its HTTP listens. */
    public int port() {
        return server.port();
    }

    /** Waits until it is closed (true), or a broken promise of ours has ended it (false): then the process must end. */
    public boolean awaitEnd() throws InterruptedException {
        return daemon.awaitEnd();
    }

    @Override
    public void close() {
        if (scheduler != null) {
            scheduler.close();
        }
        daemon.close();
        decisions.close();
        follower.close();
        metrics.close();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private static @Nullable AtScheduler atScheduler(
            Config config, HealerMetrics metrics, Clock clock, LongSupplier nanos) {
        if (!config.scheduler().enabled()) {
            return null;
        }
        AtScheduler.Place here = new AtScheduler.Place(
                config.healer().brokers().client(),
                config.healer().brokers().prefix(),
                config.healer().id(),
                metrics::deciding,
                clock,
                nanos);
        return AtScheduler.start(config.scheduler(), here, System.getProperty("user.name", ""));
    }

    /** The farthest that any playbook may go. */
    private static String mode(Policy policy) {
        return policy.playbooks().stream()
                .map(Playbook::mode)
                .max(Comparator.naturalOrder())
                .orElse(Mode.OBSERVE)
                .label();
    }

    private static Optional<String> trouble(Daemon daemon, ViewsFollower follower) {
        Optional<String> trouble = daemon.trouble();
        return trouble.isPresent() || follower.alive()
                ? trouble
                : Optional.of("the thread of the views has ended: restart this healer");
    }
}
