/** A simulated fleet: nodes and a training job that behave, and break, as measured on real GPUs. */
@NullMarked
package dev.unhang.lab.fleet;

import org.jspecify.annotations.NullMarked;
