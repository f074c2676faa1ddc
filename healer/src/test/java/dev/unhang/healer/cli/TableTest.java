package dev.unhang.healer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TableTest {

    @Test
    void columnsAlignByWidth() {
        assertThat(new Table("NAME", "X").row("節点", "1").row("n\u001b", "2").lines())
                .containsExactly("NAME   X", "節点   1", "n\\x1b  2");
    }
}
