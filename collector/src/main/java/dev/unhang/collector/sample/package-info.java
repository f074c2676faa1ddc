/** From readings to samples: one worker a source, and one sampler that merges what they read, once a second. */
@NullMarked
package dev.unhang.collector.sample;

import org.jspecify.annotations.NullMarked;
