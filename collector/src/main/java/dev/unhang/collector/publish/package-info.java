/**
 * From the node to the log: a bounded backlog, and a publisher thread that alone talks to Kafka. Nothing here blocks
 * whoever hands in a record.
 */
@NullMarked
package dev.unhang.collector.publish;

import org.jspecify.annotations.NullMarked;
