package dev.unhang.events;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.Learned;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.ProbeResult;
import dev.unhang.events.v1.Pulse;
import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.events.v1.SignedGrant;
import dev.unhang.events.v1.StateValue;
import dev.unhang.events.v1.Withdraw;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * Puts and reads the envelope of a record: CloudEvents 1.0 in Kafka's binary mode, with the bare Protobuf message as
 * the value. Unknown fields are kept. A type of our package that this version does not know is {@link Decoded.Skipped},
 * and anything unreadable is {@link Decoded.Unreadable}: the caller sends it whole to the dead letters and goes on.
 * Stateless; any thread may call it.
 */
public final class Codec {

    /** All {@code ce_type}s begin so; the version of the schema is in it. */
    public static final String TYPE_PREFIX = "dev.unhang.events.v1.";

    private static final String OUR_PACKAGE = "dev.unhang.events.";
    private static final String CONTENT_TYPE = "application/protobuf";

    private static final Map<String, Parser<? extends Message>> PARSERS = parsers(List.of(
            NodeSample.getDefaultInstance(),
            NodeEvent.getDefaultInstance(),
            NodeInventory.getDefaultInstance(),
            ProbeResult.getDefaultInstance(),
            Pulse.getDefaultInstance(),
            Learned.getDefaultInstance(),
            NodeReport.getDefaultInstance(),
            Finding.getDefaultInstance(),
            Covered.getDefaultInstance(),
            OperatorDecision.getDefaultInstance(),
            SchedulerFact.getDefaultInstance(),
            JournalEntry.getDefaultInstance(),
            StateValue.getDefaultInstance(),
            Offer.getDefaultInstance(),
            Withdraw.getDefaultInstance(),
            Claim.getDefaultInstance(),
            SignedGrant.getDefaultInstance(),
            ActionResult.getDefaultInstance(),
            ActuatorHello.getDefaultInstance()));

    private Codec() {}

    /** What became of a record that was read. */
    public sealed interface Decoded {
        /** A message of a known type. {@code id} is its {@code ce_id}, by which doubles are known; may be empty. */
        record Known(String id, String source, Message message) implements Decoded {}

        /** A type of our package that a newer version writes: skipped and counted. */
        record Skipped(String type) implements Decoded {}

        /** Not readable, and why. */
        record Unreadable(String reason) implements Decoded {}
    }

    /** The names of all message types that may stand alone in a record. */
    public static List<String> types() {
        return PARSERS.keySet().stream().map(name -> TYPE_PREFIX + name).toList();
    }

    /** The headers of a record. {@code source} is {@code /nodes/NODE} or {@code /healers/ID}. */
    public static Headers headers(Message message, String id, String source, Instant time) {
        RecordHeaders headers = new RecordHeaders();
        add(headers, "ce_specversion", "1.0");
        add(headers, "ce_id", id);
        add(headers, "ce_source", source);
        add(headers, "ce_type", TYPE_PREFIX + message.getDescriptorForType().getName());
        add(headers, "ce_time", time.toString());
        add(headers, "content-type", CONTENT_TYPE);
        return headers;
    }

    /** Reads a record; never throws on bad input. */
    public static Decoded decode(Headers headers, byte @Nullable [] value) {
        String type = text(headers, "ce_type");
        if (type == null) {
            return new Decoded.Unreadable("no ce_type header");
        }
        Parser<? extends Message> parser =
                type.startsWith(TYPE_PREFIX) ? PARSERS.get(type.substring(TYPE_PREFIX.length())) : null;
        if (parser == null) {
            return type.startsWith(OUR_PACKAGE)
                    ? new Decoded.Skipped(type)
                    : new Decoded.Unreadable("ce_type is not of " + OUR_PACKAGE + "*: " + shortened(type));
        }
        if (value == null) {
            return new Decoded.Unreadable("no value for " + type);
        }
        try {
            String id = text(headers, "ce_id");
            String source = text(headers, "ce_source");
            Message message = parser.parseFrom(value);
            Message whole = message instanceof NodeSample sample ? SlimSample.restored(sample) : message;
            return new Decoded.Known(id == null ? "" : id, source == null ? "" : source, whole);
        } catch (InvalidProtocolBufferException e) {
            return new Decoded.Unreadable(type + " of " + value.length + " bytes: " + e.getMessage());
        }
    }

    /** The parser of a type by its short name, as {@code NodeSample}; null for a type that is not known. */
    static @Nullable Parser<? extends Message> parser(String name) {
        return PARSERS.get(name);
    }

    private static void add(RecordHeaders headers, String key, String value) {
        headers.add(key, value.getBytes(StandardCharsets.UTF_8));
    }

    private static @Nullable String text(Headers headers, String key) {
        Header header = headers.lastHeader(key);
        return header == null || header.value() == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    private static String shortened(String text) {
        return text.length() <= 80 ? text : text.substring(0, 80) + "…";
    }

    private static Map<String, Parser<? extends Message>> parsers(List<Message> messages) {
        Map<String, Parser<? extends Message>> parsers = new LinkedHashMap<>();
        for (Message message : messages) {
            parsers.put(message.getDescriptorForType().getName(), message.getParserForType());
        }
        return parsers;
    }
}
