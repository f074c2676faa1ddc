package dev.unhang.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.storage.Formatter;
import org.jspecify.annotations.Nullable;

/**
 * A real Kafka broker and its controller in this process, with its data under one folder that survives restarts. Sized
 * for one machine: few threads, small buffers, one replica. Topics are never created by use. The owner's thread calls
 * {@link #start} and {@link #stop}; the broker has threads of its own. A fault that Kafka holds fatal ends the whole
 * process, as it ends a broker's.
 *
 * <p>{@link #main} runs it as a process of its own, for tests that kill it.
 */
public final class EmbeddedKafka implements AutoCloseable {

    private static final int NODE = 1;

    private final Path data;
    private final String host;
    private final int port;
    private final ShiftedTime time = new ShiftedTime();
    private @Nullable KafkaRaftServer server;

    /** On the loopback; {@code port} 0 takes a free one, which stays the same for the life of this object. */
    public EmbeddedKafka(Path data, int port) throws IOException {
        this(data, "127.0.0.1", port);
    }

    /** {@code host} is what it listens on and what it tells its clients. */
    public EmbeddedKafka(Path data, String host, int port) throws IOException {
        this.data = data.toAbsolutePath();
        this.host = host;
        this.port = port == 0 ? freePort(host) : port;
    }

    /** What clients need: {@code host:port}. */
    public String bootstrapServers() {
        return host + ":" + port;
    }

    public int port() {
        return port;
    }

    /**
     * Formats the folder if it is new, starts, and returns once the broker answers clients.
     *
     * @throws BindException when another process listens on the port
     */
    public void start() throws IOException {
        if (server != null) {
            throw new IllegalStateException("the broker on " + bootstrapServers() + " runs already");
        }
        requireFree(host, port);
        int controllerPort = freePort("127.0.0.1");
        Files.createDirectories(data);
        if (!Files.exists(data.resolve("meta.properties"))) {
            format();
        }
        KafkaRaftServer starting = new KafkaRaftServer(KafkaConfig.fromProps(settings(controllerPort), false), time);
        starting.startup();
        server = starting;
    }

    /** Sets the broker's wall clock ahead of the system's, in milliseconds: from now on its stamps show it. */
    public void shiftStamps(long ms) {
        time.shift(ms);
    }

    /** Stops in order; the data stays, and it can be started again. */
    public void stop() {
        KafkaRaftServer stopping = server;
        server = null;
        if (stopping != null) {
            stopping.shutdown();
            stopping.awaitShutdown();
        }
    }

    @Override
    public void close() {
        stop();
    }

    /** A port that nothing listens on now. */
    public static int freePort(String host) throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(host))) {
            return socket.getLocalPort();
        }
    }

    private static void requireFree(String host, int port) throws IOException {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(host, port));
        } catch (BindException e) {
            BindException told =
                    new BindException("the broker cannot listen on " + host + ":" + port + " (" + e.getMessage() + ")");
            told.initCause(e);
            throw told;
        }
    }

    private void format() throws IOException {
        try {
            new Formatter()
                    .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                    .setNodeId(NODE)
                    .setClusterId(Uuid.randomUuid().toString())
                    .addDirectory(data.toString())
                    .setMetadataLogDirectory(data.toString())
                    .setControllerListenerName("CONTROLLER")
                    .run();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("cannot format " + data + " for the broker", e);
        }
    }

    private Properties settings(int controllerPort) {
        Properties settings = new Properties();
        settings.setProperty("process.roles", "broker,controller");
        settings.setProperty("node.id", Integer.toString(NODE));
        settings.setProperty("controller.quorum.voters", NODE + "@127.0.0.1:" + controllerPort);
        settings.setProperty("controller.listener.names", "CONTROLLER");
        settings.setProperty("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        settings.setProperty(
                "listeners", "PLAINTEXT://" + host + ":" + port + ",CONTROLLER://127.0.0.1:" + controllerPort);
        settings.setProperty("advertised.listeners", "PLAINTEXT://" + host + ":" + port);
        settings.setProperty("log.dirs", data.toString());
        settings.setProperty("auto.create.topics.enable", "false");

        // Journal and state carry the stamp of their cause, and the lab lets a day pass in a minute.
        settings.setProperty("log.message.timestamp.after.max.ms", Long.toString(Long.MAX_VALUE));

        for (String topic : new String[] {"offsets.topic", "transaction.state.log", "share.coordinator.state.topic"}) {
            settings.setProperty(topic + ".num.partitions", "2");
            settings.setProperty(topic + ".replication.factor", "1");
            settings.setProperty(topic + ".segment.bytes", Integer.toString(4 << 20));
        }
        settings.setProperty("transaction.state.log.min.isr", "1");
        settings.setProperty("share.coordinator.state.topic.min.isr", "1");
        settings.setProperty("group.initial.rebalance.delay.ms", "0");

        // After kill -9 a broker may register again only once the session of its former self has ended.
        settings.setProperty("broker.heartbeat.interval.ms", "1000");
        settings.setProperty("broker.session.timeout.ms", "4000");

        settings.setProperty("num.network.threads", "1");
        settings.setProperty("num.io.threads", "2");
        settings.setProperty("num.recovery.threads.per.data.dir", "1");
        settings.setProperty("background.threads", "2");
        settings.setProperty("group.coordinator.threads", "1");
        settings.setProperty("share.coordinator.threads", "1");
        settings.setProperty("log.segment.bytes", Integer.toString(64 << 20));
        settings.setProperty("log.index.size.max.bytes", Integer.toString(1 << 20));
        settings.setProperty("log.cleaner.dedupe.buffer.size", Integer.toString(4 << 20));
        settings.setProperty("log.cleaner.io.buffer.size", Integer.toString(256 << 10));
        return settings;
    }

    /**
     * {@code EmbeddedKafka --port P --data DIR [--host H]}: prints {@code ready HOST:PORT}, then obeys lines on its
     * standard input: {@code shift MILLISECONDS} sets its clock wrong and is answered with {@code shifted MILLISECONDS}.
     * The end of the input changes nothing. SIGTERM stops it in order.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        Properties options = new Properties();
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.setProperty(args[i], args[i + 1]);
        }
        String dir = options.getProperty("--data");
        if (dir == null || args.length % 2 != 0) {
            System.err.println("usage: EmbeddedKafka --data DIR [--port P] [--host H]");
            System.exit(2);
            return;
        }
        EmbeddedKafka kafka = new EmbeddedKafka(
                Path.of(dir),
                options.getProperty("--host", "127.0.0.1"),
                Integer.parseInt(options.getProperty("--port", "9092")));
        try {
            kafka.start();
        } catch (BindException e) {
            System.err.println(e.getMessage());
            System.exit(1);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(kafka::stop, "broker-stop"));
        System.out.println("ready " + kafka.bootstrapServers());
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            if (line.startsWith("shift ")) {
                kafka.shiftStamps(
                        Long.parseLong(line.substring("shift ".length()).strip()));
                System.out.println(
                        "shifted " + line.substring("shift ".length()).strip());
            }
        }
        new CountDownLatch(1).await();
    }
}
