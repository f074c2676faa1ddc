package dev.unhang.healer.replay;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Pulse;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/**
 * A recorded trace (gzip or plain JSON lines, {@code lab/traces/FORMAT.md}) as the records that its nodes' collectors
 * would have published, in order: samples, and a pulse for each whole second of the trace. Recordings at a higher rate
 * are thinned to one sample a second, as a collector takes them. The labels in the header are not read. Not thread safe.
 */
public final class Trace implements Closeable {

    /** What the trace says of itself; nothing of it reaches a detector. */
    public record Header(String name, int format, double hz) {}

    /** One record of the log. */
    public sealed interface Item {
        /** The broker's stamp that it would bear, ms. Second 0 of the trace is {@link #EPOCH_MS}. */
        long stampMs();

        record Sample(String node, NodeSample sample, long stampMs) implements Item {}

        record Beat(Pulse pulse, long stampMs) implements Item {}
    }

    /** The stamp of second 0. A date like any other: nothing may depend on it. */
    public static final long EPOCH_MS = 1_700_000_000_000L;

    private static final JsonFactory JSON = new JsonFactory();
    private static final int BUFFER = 1 << 16;

    /** A sample that comes earlier than this after the last of its node is left out, ms: a second less a timer's jitter. */
    private static final long THIN_MS = 970;

    private static final String OWNER = "replay";

    private final Path file;
    private final JsonParser parser;
    private final TraceRecord record;
    private final Header header;
    private final Map<String, long[]> lastTaken = new HashMap<>();
    private long records;
    private long firstMs = Long.MIN_VALUE;
    private long lastMs = Long.MIN_VALUE;
    private long nextBeatMs = Long.MIN_VALUE;
    private long beats;
    private Item.@Nullable Sample held;
    private boolean ended;

    /**
     * Opens a trace and reads its header.
     *
     * @param heartbeats false: as if the training loop reported nothing
     */
    public static Trace open(Path file, boolean heartbeats) throws IOException {
        if (Files.isDirectory(file)) {
            throw new TraceException(file, 0, "it is a folder: name the traces in it, as FOLDER/*.jsonl.gz");
        }
        InputStream in;
        try {
            in = new BufferedInputStream(Files.newInputStream(file), BUFFER);
        } catch (NoSuchFileException e) {
            throw new TraceException(file, 0, "there is no such file");
        } catch (AccessDeniedException e) {
            throw new TraceException(file, 0, "this user may not read it");
        }
        try {
            in.mark(2);
            boolean gzip = in.read() == 0x1f && in.read() == 0x8b;
            in.reset();
            JsonParser parser = JSON.createParser(gzip ? new GZIPInputStream(in, BUFFER) : in);
            return new Trace(file, parser, heartbeats);
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }

    /**
     * Reads a trace that is made as it is read, as plain JSON lines.
     *
     * @param name what stands for the file's path in error messages
     * @param heartbeats false: as if the training loop reported nothing
     */
    public static Trace read(String name, InputStream in, boolean heartbeats) throws IOException {
        return new Trace(Path.of(name), JSON.createParser(in), heartbeats);
    }

    private Trace(Path file, JsonParser parser, boolean heartbeats) throws IOException {
        this.file = file;
        this.parser = parser;
        this.record = new TraceRecord(parser, heartbeats);
        try {
            this.header = readHeader();
        } catch (IOException e) {
            throw explained(e);
        }
    }

    public Header header() {
        return header;
    }

    /** Records of the file that were read so far, those that were thinned out included. */
    public long records() {
        return records;
    }

    /** From the first record to the last one read, ms. */
    public long lengthMs() {
        return records == 0 ? 0 : lastMs - firstMs;
    }

    /** The next record of the log, or null at the end of the trace. */
    public @Nullable Item next() throws IOException {
        Item.Sample sample = held;
        held = null;
        if (sample == null && !ended) {
            try {
                sample = readSample();
            } catch (IOException e) {
                throw explained(e);
            }
            ended = sample == null;
        }
        if (sample == null) {
            return nextBeatMs != Long.MIN_VALUE && nextBeatMs < lastMs + 1000 ? beat() : null;
        }
        if (nextBeatMs == Long.MIN_VALUE) {
            nextBeatMs = -Math.floorDiv(-sample.stampMs(), 1000L) * 1000;
        }
        if (sample.stampMs() > nextBeatMs) {
            held = sample;
            return beat();
        }
        return sample;
    }

    private Item.Beat beat() {
        beats++;
        Item.Beat beat = new Item.Beat(
                Pulse.newBuilder()
                        .setOwner(OWNER)
                        .setGeneration(1)
                        .setSeq(beats)
                        .build(),
                nextBeatMs);
        nextBeatMs += 1000;
        return beat;
    }

    private Item.@Nullable Sample readSample() throws IOException {
        while (parser.nextToken() != null) {
            if (parser.currentToken() != JsonToken.START_OBJECT) {
                throw record.wrong("a record must be a JSON object");
            }
            long ms = record.read();
            records++;
            lastMs = EPOCH_MS + ms;
            if (firstMs == Long.MIN_VALUE) {
                firstMs = lastMs;
            }
            if (taken(record.node(), lastMs)) {
                return new Item.Sample(record.node(), record.sample(), lastMs);
            }
        }
        return null;
    }

    private boolean taken(String node, long ms) {
        long[] last = lastTaken.get(node);
        if (last == null) {
            lastTaken.put(node, new long[] {ms});
            return true;
        }
        if (header.hz() > 1.5 && ms - last[0] < THIN_MS) {
            return false;
        }
        last[0] = ms;
        return true;
    }

    private Header readHeader() throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw record.wrong("a trace begins with its header, a JSON object");
        }
        String name = null;
        int format = 0;
        double hz = 1;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String field = parser.currentName();
            parser.nextToken();
            switch (field) {
                case "trace" -> name = parser.getText();
                case "format" -> format = parser.getIntValue();
                case "hz" -> hz = parser.getDoubleValue();
                default -> parser.skipChildren();
            }
        }
        if (name == null) {
            throw record.wrong("the header has no field `trace`");
        }
        if (format != 1) {
            throw record.wrong("format " + format + " is not known; this version reads format 1");
        }
        return new Header(name, format, hz);
    }

    /** What went wrong, in terms of the file. */
    private IOException explained(IOException e) {
        if (e instanceof JsonProcessingException json) {
            JsonLocation at = json.getLocation();
            return new TraceException(file, at == null ? line() : at.getLineNr(), json.getOriginalMessage());
        }
        if (e instanceof EOFException || e instanceof ZipException) {
            return new TraceException(file, line(), "the file is cut off or damaged (" + e.getMessage() + ")");
        }
        return e;
    }

    private int line() {
        return parser.currentLocation().getLineNr();
    }

    @Override
    public void close() throws IOException {
        parser.close();
    }
}
