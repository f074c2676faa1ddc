package dev.unhang.healer.intake;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the owner of a telemetry partition writes beside its committed offset, for the next owner: from where to warm up,
 * and its own generation.
 *
 * <p>A generation must rise with each owner, also when the group was idle for so long that the broker forgot it and its
 * own counter began anew. So the next one is the greater of the committed one plus one and the wall clock's milliseconds
 * at the assignment: the first makes it rise whatever the hosts' clocks say, the second when the bookmark is lost. It is
 * committed before the new owner says anything. Only the broker's present owner can commit, so no two have the same.
 *
 * @param rewind offset from which detectors are warmed up
 * @param generation of the owner that wrote it
 */
record Bookmark(long rewind, long generation) {

    private static final Pattern FORM = Pattern.compile("unhang rewind=(\\d{1,18}) generation=(\\d{1,18})");

    /** Whether the metadata of a commit can be read; else somebody else moved the offset. */
    static boolean readable(String metadata) {
        return FORM.matcher(metadata).matches();
    }

    static Bookmark parse(String metadata) {
        Matcher matcher = FORM.matcher(metadata);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("no bookmark: " + metadata);
        }
        return new Bookmark(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)));
    }

    String text() {
        return "unhang rewind=" + rewind + " generation=" + generation;
    }

    /** The generation of the owner after this one. */
    long nextGeneration(long wallMs) {
        return Math.max(generation + 1, wallMs);
    }
}
