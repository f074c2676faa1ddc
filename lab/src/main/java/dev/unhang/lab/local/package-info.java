/** The one-machine cluster: a broker in this process, a collector and a healer as its children. */
@NullMarked
package dev.unhang.lab.local;

import org.jspecify.annotations.NullMarked;
