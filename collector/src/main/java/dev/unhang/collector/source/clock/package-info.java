/** How far the node's clock is from true time: chronyd's word, and the kernel's as a second opinion. */
@NullMarked
package dev.unhang.collector.source.clock;

import org.jspecify.annotations.NullMarked;
