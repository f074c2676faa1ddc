/** What the collector reads. A source knows nothing of samples in time, of Kafka, or of other sources. */
@NullMarked
package dev.unhang.collector.source;

import org.jspecify.annotations.NullMarked;
