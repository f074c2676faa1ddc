/** The few calls of the C library that Java has no words for. Nothing of JNA leaves this package. */
@NullMarked
package dev.unhang.collector.source.libc;

import org.jspecify.annotations.NullMarked;
