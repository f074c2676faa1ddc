/** Takes a network port down and up, and puts back all that the kernel forgets with that. */
@NullMarked
package dev.unhang.healer.actuator.nic;

import org.jspecify.annotations.NullMarked;
