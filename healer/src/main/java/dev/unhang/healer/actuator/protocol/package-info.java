/** What an actuator or executor makes of the commands that it reads, as values: no broker, no clock, no thread. */
@NullMarked
package dev.unhang.healer.actuator.protocol;

import org.jspecify.annotations.NullMarked;
