/** Resets a GPU that nobody uses, and gives back what had to let go of it. */
@NullMarked
package dev.unhang.healer.actuator.gpu;

import org.jspecify.annotations.NullMarked;
