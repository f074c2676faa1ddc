/** Reads recorded telemetry and says what the healer would decide on it, as fast as it can be read. */
@NullMarked
package dev.unhang.healer.replay;

import org.jspecify.annotations.NullMarked;
