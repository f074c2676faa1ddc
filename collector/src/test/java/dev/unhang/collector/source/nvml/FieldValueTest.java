package dev.unhang.collector.source.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FieldValueTest {

    /** Bytes beside the value's own are whatever was there before. */
    private static final long DIRT = 0xABCDEF01_00000000L;

    @Test
    void readsEachTypeByItsOwnWidth() {
        assertThat(new FieldValue(FieldValue.UNSIGNED_INT, DIRT | 0xFFFFFFFEL).whole())
                .hasValue(0xFFFFFFFEL);
        assertThat(new FieldValue(FieldValue.SIGNED_INT, DIRT | 0xFFFFFFFEL).whole())
                .hasValue(-2);
        assertThat(new FieldValue(FieldValue.UNSIGNED_SHORT, DIRT | 0x12FFFFL).whole())
                .hasValue(0xFFFF);
        assertThat(new FieldValue(FieldValue.SIGNED_LONG_LONG, -5).whole()).hasValue(-5);
        assertThat(new FieldValue(FieldValue.UNSIGNED_LONG_LONG, 1L << 40).whole())
                .hasValue(1L << 40);
        assertThat(new FieldValue(FieldValue.UNSIGNED_LONG, 7).whole()).hasValue(7);
        assertThat(new FieldValue(FieldValue.DOUBLE, Double.doubleToLongBits(41.6)).whole())
                .hasValue(42);
    }

    @Test
    void blanksAndUnknownTypesAreNoNumbers() {
        assertThat(new FieldValue(FieldValue.UNSIGNED_LONG_LONG, -1).whole()).isEmpty();
        assertThat(new FieldValue(FieldValue.DOUBLE, Double.doubleToLongBits(140737488355328.0)).whole())
                .isEmpty();
        assertThat(new FieldValue(FieldValue.DOUBLE, Double.doubleToLongBits(140737488355327.0)).whole())
                .hasValue(140737488355327L);
        assertThat(new FieldValue(FieldValue.DOUBLE, Double.doubleToLongBits(Double.NaN)).whole())
                .isEmpty();
        assertThat(new FieldValue(7, 1).whole()).isEmpty();
    }

    @Test
    void showsABlankAsItIs() {
        assertThat(new FieldValue(FieldValue.UNSIGNED_LONG_LONG, -1).text()).isEqualTo("18446744073709551615");
        assertThat(new FieldValue(9, 0x10).text()).isEqualTo("0x10");
        assertThat(new FieldValue(9, 0x10).typeName()).isEqualTo("type 9");
    }

    @ParameterizedTest
    @CsvSource({
        "250, 550.54.15, true",
        "251, 575.57.08, false",
        "273, 580.81.01, false",
        "251, 580.82.07, true",
        "271, 580.159.04, true",
        "271, 595.45.04, true",
        "274, 550.54.15, true",
        "260, '', false",
        "260, driver, false",
        "251, 581, true",
        "251, 580, false",
    })
    void renumberedIdsAreAskedOfNewDriversOnly(int id, String driver, boolean asked) {
        assertThat(FieldBlock.meansTheSame(id, driver)).isEqualTo(asked);
    }
}
