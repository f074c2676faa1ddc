package dev.unhang.healer.text;

import java.util.Locale;

/**
 * Shows text of unknown origin on a terminal or in a log: host names, evidence and reasons come from machines and users. Control
 * characters, escape sequences, marks that turn the reading direction, line breaks and stacks of combining marks become
 * visible escapes as {@code \x1b} and {@code \u202e}, and long texts are shortened, so that a name can neither move the
 * cursor, nor hide, nor pose as another line. Stateless.
 */
public final class SafeText {

    private static final int MOST_MARKS = 2;
    private static final int MOST_LOGGED = 1_000;

    private SafeText() {}

    /** For a log: what a node or a person named, on one line and bounded, so that no name can pose as a line of ours. */
    public static String logged(String text) {
        return of(text, MOST_LOGGED);
    }

    /** The text on one line, at most {@code most} columns wide; what was cut shows as {@code …(+12)}. */
    public static String of(String text, int most) {
        StringBuilder safe = new StringBuilder(Math.min(text.length(), most) + 16);
        int width = 0;
        int marks = 0;
        int i = 0;
        while (i < text.length()) {
            int c = text.codePointAt(i);
            marks = isMark(c) ? marks + 1 : 0;
            String shown = harmless(c) && marks <= MOST_MARKS ? Character.toString(c) : escaped(c);
            int columns = shown.length() > 2 ? shown.length() : columns(c);
            if (width + columns > most) {
                return safe.append("…(+")
                        .append(text.codePointCount(i, text.length()))
                        .append(')')
                        .toString();
            }
            safe.append(shown);
            width += columns;
            i += Character.charCount(c);
        }
        return safe.toString();
    }

    /** JSON as it came, still the same JSON, but with nothing in it that a terminal could obey. */
    public static String json(String json) {
        StringBuilder safe = new StringBuilder(json.length());
        json.codePoints().forEach(c -> {
            if (c == '\n' || harmless(c)) {
                safe.appendCodePoint(c);
            } else if (c == '\t' || c == '\r') {
                safe.append(' ');
            } else {
                for (char unit : Character.toChars(c)) {
                    safe.append(String.format(Locale.ROOT, "\\u%04x", (int) unit));
                }
            }
        });
        return safe.toString();
    }

    /** How many columns a terminal gives a text that was made safe. */
    public static int width(String safe) {
        return safe.codePoints().map(SafeText::columns).sum();
    }

    private static boolean harmless(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.ENCLOSING_MARK -> false;
            case Character.SPACE_SEPARATOR -> c == ' ';
            default -> !rightToLeft(c);
        };
    }

    /** Letters that are written from right to left reorder what stands beside them, even without a mark. */
    private static boolean rightToLeft(int c) {
        byte direction = Character.getDirectionality(c);
        return direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT
                || direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT_ARABIC
                || direction == Character.DIRECTIONALITY_ARABIC_NUMBER;
    }

    private static boolean isMark(int c) {
        int type = Character.getType(c);
        return type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK;
    }

    private static String escaped(int c) {
        return c < 0x100
                ? String.format(Locale.ROOT, "\\x%02x", c)
                : String.format(Locale.ROOT, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    }

    private static int columns(int c) {
        if (isMark(c)) {
            return 0;
        }
        boolean wide = Character.isIdeographic(c)
                || (c >= 0x1100 && c <= 0x115f)
                || (c >= 0x3041 && c <= 0x33ff)
                || (c >= 0xac00 && c <= 0xd7a3)
                || (c >= 0xff01 && c <= 0xff60)
                || (c >= 0x1f300 && c <= 0x1faff);
        return wide ? 2 : 1;
    }
}
