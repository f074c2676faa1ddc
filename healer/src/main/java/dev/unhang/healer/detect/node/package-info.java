/** Judges the nodes of one telemetry partition (step 4a). */
@NullMarked
package dev.unhang.healer.detect.node;

import org.jspecify.annotations.NullMarked;
