package dev.unhang.healer.act.slurm;

import java.util.ArrayList;
import java.util.List;

/**
 * Slurm's short form of many node names: {@code gpu-[001-003,7],login}, brackets also more than once in a name. Leading
 * zeros are kept. Stateless.
 */
final class HostList {

    /** More names than any cluster has; what asks for more is no list of nodes. */
    static final int MOST = 200_000;

    private HostList() {}

    /**
     * All names, in the order of the text; none for an empty text.
     *
     * @throws IllegalArgumentException with a sentence, when it is not well formed
     */
    static List<String> expand(String text) {
        List<String> names = new ArrayList<>();
        if (text.isEmpty()) {
            return names;
        }
        int depth = 0;
        int from = 0;
        for (int at = 0; at <= text.length(); at++) {
            char letter = at == text.length() ? ',' : text.charAt(at);
            if (letter == '[') {
                depth++;
            } else if (letter == ']') {
                depth--;
            } else if (letter == ',' && depth == 0) {
                expandOne("", text.substring(from, at), names, text);
                from = at + 1;
            }
            if (depth < 0 || depth > 1) {
                throw wrong(text);
            }
        }
        if (depth != 0) {
            throw wrong(text);
        }
        return names;
    }

    private static void expandOne(String before, String rest, List<String> names, String whole) {
        int open = rest.indexOf('[');
        if (open < 0) {
            if ((before.isEmpty() && rest.isEmpty()) || names.size() >= MOST) {
                throw wrong(whole);
            }
            names.add(before + rest);
            return;
        }
        int close = rest.indexOf(']', open);
        String prefix = before + rest.substring(0, open);
        String suffix = rest.substring(close + 1);
        for (String range : rest.substring(open + 1, close).split(",", -1)) {
            int dash = range.indexOf('-');
            String first = dash < 0 ? range : range.substring(0, dash);
            String last = dash < 0 ? range : range.substring(dash + 1);
            long to = number(last, whole);
            for (long n = number(first, whole); n <= to; n++) {
                expandOne(prefix + padded(n, first.length()), suffix, names, whole);
            }
            if (number(first, whole) > to) {
                throw wrong(whole);
            }
        }
    }

    private static long number(String digits, String whole) {
        if (!digits.matches("[0-9]{1,15}")) {
            throw wrong(whole);
        }
        return Long.parseLong(digits);
    }

    private static String padded(long number, int width) {
        String digits = Long.toString(number);
        return "0".repeat(Math.max(0, width - digits.length())) + digits;
    }

    private static IllegalArgumentException wrong(String text) {
        String shown = text.length() > 80 ? text.substring(0, 80) + "..." : text;
        return new IllegalArgumentException("'" + shown + "' is no list of nodes as Slurm writes it: node-[1-3],login");
    }
}
