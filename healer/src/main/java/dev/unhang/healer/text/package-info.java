/** Text that came from machines and users, made fit to be shown. */
@NullMarked
package dev.unhang.healer.text;

import org.jspecify.annotations.NullMarked;
