/** Decides (step 5): from findings and decisions of people to journal entries. Pure; only apply changes anything. */
@NullMarked
package dev.unhang.healer.decide;

import org.jspecify.annotations.NullMarked;
