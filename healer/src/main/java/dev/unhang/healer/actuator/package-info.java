/** What acts on a node: the protocol of commands, the daemon around it, and the repairs. Nothing that decides knows it. */
@NullMarked
package dev.unhang.healer.actuator;

import org.jspecify.annotations.NullMarked;
