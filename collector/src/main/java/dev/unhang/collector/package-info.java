/** The daemon of a node: reads (source), samples (sample), publishes (publish) and serves its metrics (serve). */
@NullMarked
package dev.unhang.collector;

import org.jspecify.annotations.NullMarked;
