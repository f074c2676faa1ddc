/** Judges jobs from the inbox (step 4b). */
@NullMarked
package dev.unhang.healer.detect.job;

import org.jspecify.annotations.NullMarked;
