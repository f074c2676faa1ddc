package dev.unhang.healer.decide;

import dev.unhang.events.v1.Mark;
import dev.unhang.events.v1.Position;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Remembers where in the inbox a successor begins to warm up: about two minutes of log time before the position, kept as
 * a mark each ten seconds. Confined to one thread.
 */
final class Rewind {

    /** How far back, ms of log time. */
    static final long BACK_MS = 120_000;

    private static final long APART_MS = 10_000;

    private final Deque<Mark> marks;

    Rewind(Position position) {
        marks = new ArrayDeque<>(position.getMarksList());
    }

    /** A record is about to be taken: {@code logMs} and {@code lastStampMs} are those of the record before it. */
    void pass(long offset, long logMs, long lastStampMs) {
        Mark last = marks.peekLast();
        if (last != null && logMs - last.getLogTimeMs() < APART_MS) {
            return;
        }
        marks.addLast(Mark.newBuilder()
                .setInboxOffset(offset)
                .setLogTimeMs(logMs)
                .setLastStampMs(lastStampMs)
                .build());
        while (marks.size() > 1 && logMs - second().getLogTimeMs() >= BACK_MS) {
            marks.removeFirst();
        }
    }

    void describe(Position.Builder position) {
        Mark first = marks.peekFirst();
        if (first != null) {
            position.setRewindOffset(first.getInboxOffset())
                    .setRewindLogTimeMs(first.getLogTimeMs())
                    .setRewindStampMs(first.getLastStampMs())
                    .addAllMarks(marks);
        }
    }

    private Mark second() {
        return marks.stream().skip(1).findFirst().orElseThrow();
    }
}
