/** What development and a first look need: a real broker in one process, a one-machine cluster, players and benchmarks. */
@NullMarked
package dev.unhang.lab;

import org.jspecify.annotations.NullMarked;
