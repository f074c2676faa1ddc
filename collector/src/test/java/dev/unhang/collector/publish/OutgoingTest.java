package dev.unhang.collector.publish;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class OutgoingTest {

    @Test
    void eachKindTellsHowLongItWaited() throws InvalidProtocolBufferException {
        NodeSample sample = NodeSample.newBuilder().setSeq(7).build();
        NodeEvent event = NodeEvent.newBuilder().setSeq(7).build();
        NodeInventory inventory = NodeInventory.newBuilder().setHostname("n").build();

        assertThat(NodeSample.parseFrom(at(Outgoing.Kind.SAMPLE, sample, 61_234)))
                .isEqualTo(sample.toBuilder().setQueuedMs(61_234).build());
        assertThat(NodeEvent.parseFrom(at(Outgoing.Kind.EVENT, event, 61_234)))
                .isEqualTo(event.toBuilder().setQueuedMs(61_234).build());
        assertThat(NodeInventory.parseFrom(at(Outgoing.Kind.INVENTORY, inventory, 61_234)))
                .isEqualTo(inventory.toBuilder().setQueuedMs(61_234).build());
    }

    @Test
    void aWaitLongerThanTheFieldIsItsLargestValue() throws InvalidProtocolBufferException {
        NodeSample sample = NodeSample.getDefaultInstance();

        assertThat(NodeSample.parseFrom(at(Outgoing.Kind.SAMPLE, sample, 1L << 40))
                        .getQueuedMs())
                .isEqualTo(Integer.MAX_VALUE);
    }

    private static byte[] at(Outgoing.Kind kind, com.google.protobuf.Message message, long waitedMs) {
        long taken = 5_000_000_000L;
        return new Outgoing(kind, 0, "id", message.toByteString(), Instant.EPOCH, taken)
                .bytesAt(taken + waitedMs * 1_000_000);
    }
}
