/** Writes down what was decided, and reads it back (step 6): journal, state and position in one Kafka transaction. */
@NullMarked
package dev.unhang.healer.journal;

import org.jspecify.annotations.NullMarked;
