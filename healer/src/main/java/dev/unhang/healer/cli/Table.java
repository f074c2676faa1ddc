package dev.unhang.healer.cli;

import dev.unhang.healer.text.SafeText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Rows under a heading, in aligned columns with two spaces between them. Cells are made safe and shortened. */
final class Table {

    private static final int MOST_COLUMNS = 60;

    private final List<List<String>> rows = new ArrayList<>();

    Table(String... heading) {
        rows.add(Arrays.asList(heading));
    }

    Table row(String... cells) {
        rows.add(Arrays.stream(cells)
                .map(cell -> SafeText.of(cell, MOST_COLUMNS))
                .toList());
        return this;
    }

    List<String> lines() {
        int[] widths = new int[rows.get(0).size()];
        for (List<String> row : rows) {
            for (int column = 0; column < widths.length; column++) {
                widths[column] = Math.max(widths[column], SafeText.width(row.get(column)));
            }
        }
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < widths.length; column++) {
                String cell = row.get(column);
                line.append(cell);
                if (column < widths.length - 1) {
                    line.append(" ".repeat(widths[column] - SafeText.width(cell) + 2));
                }
            }
            lines.add(line.toString().stripTrailing());
        }
        return lines;
    }
}
