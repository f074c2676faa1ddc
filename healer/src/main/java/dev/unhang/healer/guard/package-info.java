/** Everything that can say no to an action, each with its name and its reason. Pure functions of what was decided and seen. */
@NullMarked
package dev.unhang.healer.guard;

import org.jspecify.annotations.NullMarked;
