package dev.unhang.events;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * The topics of the log, with the settings that they must have. Partition counts are fixed for the life of a prefix,
 * since a node must stay in its partition.
 */
public enum Topic {
    /** What nodes say; key is the node. */
    TELEMETRY("telemetry", 12, Duration.ofHours(24), Stamp.LOG_APPEND),
    /** All that the decider must know. Never transactional. */
    INBOX("inbox", 1, Duration.ofDays(7), Stamp.LOG_APPEND),
    /** Every decision as it was made. */
    JOURNAL("journal", 1, Duration.ofDays(365), Stamp.OF_THE_CAUSE),
    /** The whole value under each key after each decision; compacted. */
    STATE("state", 1, null, Stamp.OF_THE_CAUSE),
    /** Offers, grants and withdrawals; key is the node or {@code @scheduler}. */
    COMMANDS("commands", 12, Duration.ofDays(1), Stamp.LOG_APPEND),
    /** Records that nobody could read, whole, with the reason. */
    DEAD_LETTERS("dead-letters", 1, Duration.ofDays(7), Stamp.LOG_APPEND);

    /** The prefix that all topics carry unless {@code kafka.topic-prefix} says otherwise. */
    public static final String DEFAULT_PREFIX = "unhang.";

    /** The largest record that may be written, in bytes as compressed; larger ones are refused by the broker. */
    public static final int MAX_RECORD_BYTES = 1 << 20;

    /** A dead letter is a whole record of another topic, and says on top where it came from and what is wrong. */
    public static final int MAX_DEAD_LETTER_BYTES = 2 * MAX_RECORD_BYTES;

    private enum Stamp {
        LOG_APPEND,
        OF_THE_CAUSE
    }

    private final String suffix;
    private final int partitions;
    private final @org.jspecify.annotations.Nullable Duration kept;
    private final Stamp stamp;

    Topic(String suffix, int partitions, @org.jspecify.annotations.Nullable Duration kept, Stamp stamp) {
        this.suffix = suffix;
        this.partitions = partitions;
        this.kept = kept;
        this.stamp = stamp;
    }

    /** The topic's name on the broker, as {@code unhang.telemetry}. */
    public String name(String prefix) {
        return prefix + suffix;
    }

    /** How many partitions it has, on every broker. */
    public int partitions() {
        return partitions;
    }

    /** The largest record that the broker takes, in bytes as compressed. */
    public int maxRecordBytes() {
        return this == DEAD_LETTERS ? MAX_DEAD_LETTER_BYTES : MAX_RECORD_BYTES;
    }

    /** The topic settings that must hold; the lab alone may replace LogAppendTime by CreateTime. */
    public Map<String, String> settings() {
        Map<String, String> settings = new TreeMap<>();
        if (kept == null) {
            settings.put("cleanup.policy", "compact");
        } else {
            settings.put("cleanup.policy", "delete");
            settings.put("retention.ms", Long.toString(kept.toMillis()));
        }
        if (stamp == Stamp.LOG_APPEND) {
            settings.put("message.timestamp.type", "LogAppendTime");
        } else {
            settings.put("message.timestamp.type", "CreateTime");
            // A broker refuses stamps an hour ahead of its clock. Ours are of another record of the same log, so one
            // step back of the broker's clock would stop the decider.
            settings.put("message.timestamp.after.max.ms", Long.toString(Long.MAX_VALUE));
        }
        return settings;
    }
}
