/** Small files of {@code /sys} and {@code /proc}: what they hold, or why they could not be read. */
@NullMarked
package dev.unhang.collector.source.file;

import org.jspecify.annotations.NullMarked;
