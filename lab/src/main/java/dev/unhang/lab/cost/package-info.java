/** What the collector itself costs a node. */
@NullMarked
package dev.unhang.lab.cost;

import org.jspecify.annotations.NullMarked;
