package dev.unhang.healer.journal;

import dev.unhang.events.Codec;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.StateValue;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * Reads {@code unhang.state} from its beginning to the end that it has now: the last value under each key, tombstones
 * taken out. The end is asked for first and reached by position, because compaction leaves gaps and the marker of a
 * transaction takes an offset that no record shows. The consumer must be {@code read_committed} and without a group.
 * Confined to the thread that calls it.
 */
public final class StateReader {

    private static final Duration WAIT = Duration.ofMillis(100);

    /** So many empty polls in a row, and the broker is held for lost: half a minute. */
    private static final int MOST_EMPTY_POLLS = 300;

    private StateReader() {}

    /** Reads all; throws {@link TimeoutException} when the broker stops answering on the way. */
    public static Map<String, StateValue> read(Consumer<String, byte[]> consumer, String prefix) {
        TopicPartition partition = new TopicPartition(Topic.STATE.name(prefix), 0);
        consumer.assign(List.of(partition));
        consumer.seekToBeginning(List.of(partition));
        Long end = consumer.endOffsets(List.of(partition)).get(partition);
        if (end == null) {
            throw new TimeoutException("the broker does not tell the end of " + partition);
        }
        Map<String, StateValue> state = new HashMap<>();
        int empty = 0;
        while (consumer.position(partition) < end) {
            long before = consumer.position(partition);
            for (ConsumerRecord<String, byte[]> record : consumer.poll(WAIT)) {
                apply(state, record);
            }
            empty = consumer.position(partition) == before ? empty + 1 : 0;
            if (empty >= MOST_EMPTY_POLLS) {
                throw new TimeoutException("reading " + partition + " stands still at offset " + before + " of " + end);
            }
        }
        return state;
    }

    static void apply(Map<String, StateValue> state, ConsumerRecord<String, byte[]> record) {
        String key = record.key();
        if (key == null) {
            throw new IllegalStateException(where(record) + " has no key: something else writes to this topic");
        }
        if (record.value() == null) {
            state.remove(key);
            return;
        }
        Codec.Decoded decoded = Codec.decode(record.headers(), record.value());
        if (decoded instanceof Codec.Decoded.Known known && known.message() instanceof StateValue value) {
            state.put(key, value);
        } else {
            throw new IllegalStateException(where(record) + " under key " + key + " cannot be read: " + decoded
                    + ". The state is what the healer rests on, so it does not go on without it");
        }
    }

    private static String where(ConsumerRecord<String, byte[]> record) {
        return "record " + record.offset() + " of " + record.topic();
    }
}
