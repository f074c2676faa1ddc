/** The benchmarks behind {@code unhang bench}: how late the healer judges, what the collector costs, how fast traces replay. */
@NullMarked
package dev.unhang.lab.bench;

import org.jspecify.annotations.NullMarked;
