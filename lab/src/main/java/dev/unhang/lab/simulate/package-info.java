/** A whole cluster by seed: the real decider and the real actuators in a simulated world, and the nine rules of safety. */
@NullMarked
package dev.unhang.lab.simulate;

import org.jspecify.annotations.NullMarked;
