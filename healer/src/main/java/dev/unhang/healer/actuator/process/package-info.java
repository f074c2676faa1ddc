/** Processes of this node as {@code /proc} tells them, and the signals that are sent to them. */
@NullMarked
package dev.unhang.healer.actuator.process;

import org.jspecify.annotations.NullMarked;
