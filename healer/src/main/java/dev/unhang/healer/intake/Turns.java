package dev.unhang.healer.intake;

/**
 * A poll loop, one pass at a time, so that a test calls it by hand. All but {@link #wakeUp} is confined to one thread.
 */
interface Turns extends AutoCloseable {

    /** One pass: polls, handles what came, and writes. Throws what Kafka throws; then the loop is to be closed. */
    void turn();

    /** Ends a poll that waits; the one call that another thread may make. */
    void wakeUp();

    /** Leaves the group and closes all clients. */
    @Override
    void close();
}
