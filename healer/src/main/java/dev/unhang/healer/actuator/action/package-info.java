/** The repairs of a node that put nothing back: signals, restarts of units, the clock, evidence. */
@NullMarked
package dev.unhang.healer.actuator.action;

import org.jspecify.annotations.NullMarked;
