/** All that was decided and still counts, as {@code unhang.state} holds it, with indexes to read it by. Pure. */
@NullMarked
package dev.unhang.healer.ledger;

import org.jspecify.annotations.NullMarked;
