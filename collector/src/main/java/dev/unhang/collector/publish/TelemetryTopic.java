package dev.unhang.collector.publish;

import dev.unhang.events.Topic;
import dev.unhang.events.Topics;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;

/**
 * Asks the broker whether the telemetry topic is there. A producer that sends first would make the broker create the
 * wrong one, so the publisher asks here until the answer is yes. Called by the publisher's thread alone.
 */
@FunctionalInterface
public interface TelemetryTopic {

    /** The answer; an exception when nobody answered, whose message goes to a person. */
    boolean exists() throws UnreachableException, InterruptedException;

    /** No broker answered. */
    final class UnreachableException extends Exception {
        private static final long serialVersionUID = 1L;

        UnreachableException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** Asks with a client of its own, closed after each answer: it is needed only until the topic is there. */
    static TelemetryTopic on(Map<String, Object> clientSettings, String topicPrefix) {
        return () -> {
            // A bootstrap server whose name does not resolve is an exception of the constructor.
            try (Admin admin = Admin.create(clientSettings)) {
                return new Topics(admin, topicPrefix).exists(Topic.TELEMETRY);
            } catch (ExecutionException e) {
                Throwable cause = e.getCause() == null ? e : e.getCause();
                boolean silent = cause instanceof org.apache.kafka.common.errors.TimeoutException;
                throw new UnreachableException(
                        silent ? "no broker answers" : String.valueOf(cause.getMessage()), cause);
            } catch (TimeoutException e) {
                throw new UnreachableException("no broker answers", e);
            } catch (KafkaException e) {
                Throwable cause = e.getCause() == null ? e : e.getCause();
                throw new UnreachableException(String.valueOf(cause.getMessage()), e);
            }
        };
    }
}
