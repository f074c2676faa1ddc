/** Slurm behind the seam of schedulers: its command line, run and parsed apart. */
@NullMarked
package dev.unhang.healer.act.slurm;

import org.jspecify.annotations.NullMarked;
