/** The processes that are ranks of jobs, from {@code /proc}, joined with what they say of themselves by heartbeat. */
@NullMarked
package dev.unhang.collector.source.process;

import org.jspecify.annotations.NullMarked;
