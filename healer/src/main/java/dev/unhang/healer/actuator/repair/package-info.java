/** What repairs share that must put back what they disturb: how they run programs, wait, and keep what they saved. */
@NullMarked
package dev.unhang.healer.actuator.repair;

import org.jspecify.annotations.NullMarked;
