/** Judges what spans nodes, from the inbox (step 4b): jobs, peers, common causes. */
@NullMarked
package dev.unhang.healer.detect.fleet;

import org.jspecify.annotations.NullMarked;
