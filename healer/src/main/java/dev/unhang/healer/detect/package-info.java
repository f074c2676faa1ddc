/** Finds what is wrong, as a pure function of the log. No clock, no logger, no Kafka, no Vert.x: time is an argument. */
@NullMarked
package dev.unhang.healer.detect;

import org.jspecify.annotations.NullMarked;
