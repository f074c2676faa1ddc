/**
 * Makes traces by seed: segments of the recorded traces, perturbed and put together to the history of a job with pauses,
 * faults and trouble in its telemetry; and scores what the healer decides on them. Knows nothing of how it decides.
 */
@NullMarked
package dev.unhang.lab.compose;

import org.jspecify.annotations.NullMarked;
