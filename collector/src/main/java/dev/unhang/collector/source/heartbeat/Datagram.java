package dev.unhang.collector.source.heartbeat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.unhang.events.v1.Phase;
import java.io.IOException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads one heartbeat: {@code {"v":1,"job":"…","rank":0,"world":2,"pid":123,"seq":1,"step":10,"phase":"TRAIN"}}, and
 * {@code ns}, the inode of the sender's pid namespace. Only {@code v} and {@code pid} must be there; what is not known
 * is skipped, so that an older collector understands a newer client. Pure. Anybody on the node can send anything here,
 * so each value has its limits.
 */
final class Datagram {

    /** Of a whole datagram. */
    static final int MOST_BYTES = 1024;

    private static final long MOST_PID = 1L << 22; // the kernel's PID_MAX_LIMIT
    private static final long MOST_RANKS = 1L << 24;
    private static final Pattern JOB = Pattern.compile("[\\x20-\\x7e]{0,128}");
    private static final JsonFactory JSON = new JsonFactory();

    private long version;
    private String job = "";
    private @Nullable Integer rank;
    private int world;
    private int pid;
    private long namespace;
    private boolean announces;
    private long seq;
    private @Nullable Long step;
    private Phase phase = Phase.PHASE_NONE;

    private Datagram() {}

    /** Null where it is no heartbeat. */
    static @Nullable Beat parse(byte[] bytes, int length, long nowNs) {
        if (length > MOST_BYTES) {
            return null;
        }
        Datagram datagram = new Datagram();
        try (JsonParser parser = JSON.createParser(bytes, 0, length)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                return null;
            }
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                parser.nextToken();
                datagram.field(name, parser);
            }
            if (parser.currentToken() != JsonToken.END_OBJECT || parser.nextToken() != null) {
                return null;
            }
        } catch (IOException | IllegalArgumentException e) {
            return null;
        }
        return datagram.beat(nowNs);
    }

    private @Nullable Beat beat(long nowNs) {
        if (version != 1 || pid == 0) {
            return null;
        }
        return new Beat(new Beat.Sender(pid, namespace), job, rank, world, phase, step, seq, announces, nowNs, nowNs);
    }

    private void field(String name, JsonParser parser) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return;
        }
        switch (name) {
            case "v" -> version = number(parser, 0, Long.MAX_VALUE);
            case "job" -> job = text(parser);
            case "rank" -> rank = (int) number(parser, 0, MOST_RANKS);
            case "world" -> world = (int) number(parser, 0, MOST_RANKS);
            case "pid" -> pid = (int) number(parser, 1, MOST_PID);
            case "ns" -> namespace = number(parser, 0, Long.MAX_VALUE);
            case "seq" -> seq = number(parser, 0, Long.MAX_VALUE);
            case "step" -> step = number(parser, 0, Long.MAX_VALUE);
            case "auto" -> announces = parser.currentToken() == JsonToken.VALUE_TRUE;
            case "phase" -> phase = phase(text(parser));
            default -> parser.skipChildren();
        }
    }

    private static long number(JsonParser parser, long least, long most) throws IOException {
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw new IllegalArgumentException("no whole number");
        }
        long value = parser.getLongValue();
        if (value < least || value > most) {
            throw new IllegalArgumentException("out of range");
        }
        return value;
    }

    private static String text(JsonParser parser) throws IOException {
        String text = parser.currentToken() == JsonToken.VALUE_STRING ? parser.getText() : "\0";
        if (!JOB.matcher(text).matches()) {
            throw new IllegalArgumentException("no printable text");
        }
        return text;
    }

    /** A phase that we do not know is none: the sender lives, and what it does is not said. */
    private static Phase phase(String name) {
        return switch (name) {
            case "INIT" -> Phase.PHASE_INIT;
            case "COMPILE" -> Phase.PHASE_COMPILE;
            case "TRAIN" -> Phase.PHASE_TRAIN;
            case "DATA" -> Phase.PHASE_DATA;
            case "CHECKPOINT" -> Phase.PHASE_CHECKPOINT;
            case "EVAL" -> Phase.PHASE_EVAL;
            case "END" -> Phase.PHASE_END;
            default -> Phase.PHASE_NONE;
        };
    }
}
