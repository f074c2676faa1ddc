/** What is wanted for each kind of incident: playbooks, their modes, and the limits that hold for all. Pure. */
@NullMarked
package dev.unhang.healer.policy;

import org.jspecify.annotations.NullMarked;
