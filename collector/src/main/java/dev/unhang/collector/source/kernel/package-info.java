/** The kernel's log: Xids of GPUs, faults of cards, processes killed for memory, tasks that hang. */
@NullMarked
package dev.unhang.collector.source.kernel;

import org.jspecify.annotations.NullMarked;
