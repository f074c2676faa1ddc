/** The life of an incident (part of step 5): a value and the legal steps between its states. Pure; no clock, no I/O. */
@NullMarked
package dev.unhang.healer.incident;

import org.jspecify.annotations.NullMarked;
