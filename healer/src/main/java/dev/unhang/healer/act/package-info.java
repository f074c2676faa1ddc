/** What a healer does through a scheduler, beside itself: the seam, the facts that schedulers tell, and the executor. */
@NullMarked
package dev.unhang.healer.act;

import org.jspecify.annotations.NullMarked;
