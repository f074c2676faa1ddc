package dev.unhang.healer.intake;

import com.google.protobuf.Message;
import dev.unhang.events.Topic;
import dev.unhang.events.v1.Finding;
import java.time.Duration;

/** What the poll loops tell of their work, in verbs; who listens never sees Kafka. Called on the loops' threads. */
public interface IntakeMetrics {

    /** Nobody listens. */
    IntakeMetrics NONE = new IntakeMetrics() {};

    /** A record was read; {@code type} is the short name of its message. */
    default void recordRead(String type) {}

    /** A detector said this. */
    default void found(Finding finding) {}

    /** A record could not be read. */
    default void unreadable(Topic topic) {}

    /** A record of our package whose type this version does not know was skipped. */
    default void skipped(String type) {}

    /** An unreadable record was put into the dead letters. */
    default void deadLetterWritten() {}

    /** This healer became the decider, or ceased to be. */
    default void deciding(boolean active) {}

    /**
     * A telemetry record of a node has been judged, and what was found is on its way to the inbox.
     *
     * @param node empty for a record that is no node's, as a pulse
     * @param sinceStamp from the broker's stamp to now; two clocks, so for people only
     */
    default void judged(String node, Message message, Duration sinceStamp) {}
}
