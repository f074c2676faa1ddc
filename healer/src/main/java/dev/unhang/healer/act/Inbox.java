package dev.unhang.healer.act;

import com.google.protobuf.Message;

/** Where what happens at a scheduler is said. Any thread may call; it does not throw, and blocks for some seconds at most. */
@FunctionalInterface
interface Inbox {

    /** Says it; false when it certainly was not written. */
    boolean say(Message message);

    /** Waits until all that was said is written or lost. */
    default void settle() {}
}
