package dev.unhang.collector.publish;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Message;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;

/**
 * A record that waits to be sent, already serialized: ten minutes of samples then need their bytes and little more.
 *
 * @param order of arrival in the backlog, from 0; a record that comes back keeps its place
 * @param id its {@code ce_id}
 * @param value the message without {@code queued_ms}
 * @param wall the node's wall clock when it was taken
 * @param takenNs the monotonic clock when it was taken
 */
record Outgoing(Kind kind, long order, String id, ByteString value, Instant wall, long takenNs) {

    /** What a record is; in the order in which a full backlog drops. */
    enum Kind {
        SAMPLE("sample", NodeSample.getDefaultInstance(), NodeSample.QUEUED_MS_FIELD_NUMBER),
        INVENTORY("inventory", NodeInventory.getDefaultInstance(), NodeInventory.QUEUED_MS_FIELD_NUMBER),
        EVENT("event", NodeEvent.getDefaultInstance(), NodeEvent.QUEUED_MS_FIELD_NUMBER);

        private final String loss;
        private final Message type;
        private final int queuedField;

        Kind(String loss, Message type, int queuedField) {
            this.loss = loss;
            this.type = type;
            this.queuedField = queuedField;
        }

        /** The kind of loss when one is dropped. */
        String loss() {
            return loss;
        }

        /** An empty message of its type, for the headers. */
        Message type() {
            return type;
        }
    }

    int bytes() {
        return value.size();
    }

    /**
     * The message with how long it waited. A field that is appended to a serialized message is part of it, so nothing
     * is parsed again.
     */
    byte[] bytesAt(long nowNs) {
        int queuedMs = (int) Math.min(Integer.MAX_VALUE, Math.max(0, (nowNs - takenNs) / 1_000_000));
        byte[] bytes = new byte[value.size() + CodedOutputStream.computeUInt32Size(kind.queuedField, queuedMs)];
        value.copyTo(bytes, 0);
        try {
            CodedOutputStream out = CodedOutputStream.newInstance(bytes, value.size(), bytes.length - value.size());
            out.writeUInt32(kind.queuedField, queuedMs);
            out.checkNoSpaceLeft();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes;
    }
}
