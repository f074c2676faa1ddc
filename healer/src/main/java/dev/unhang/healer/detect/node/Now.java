package dev.unhang.healer.detect.node;

/**
 * The clocks at one record, each for its own use: log time for what the node cannot say, the node's monotonic time for
 * what happens inside it, the stamp for people.
 *
 * @param nodeMs the node's monotonic clock, ms
 * @param fresh false for a sample that waited in a backlog: it raises, confirms and clears nothing
 */
record Now(long logMs, long stampMs, long nodeMs, boolean fresh) {}
