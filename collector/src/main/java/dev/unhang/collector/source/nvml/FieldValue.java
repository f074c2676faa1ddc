package dev.unhang.collector.source.nvml;

import java.util.OptionalLong;

/**
 * One value of {@code nvmlDeviceGetFieldValues} as the driver gave it. The type is the driver's word ({@code valueType}),
 * never our assumption: it differs between fields and has differed between drivers.
 *
 * @param type {@code nvmlValueType_t}
 * @param bits the union's eight bytes
 */
record FieldValue(int type, long bits) {

    static final int DOUBLE = 0;
    static final int UNSIGNED_INT = 1;
    static final int UNSIGNED_LONG = 2;
    static final int UNSIGNED_LONG_LONG = 3;
    static final int SIGNED_LONG_LONG = 4;
    static final int SIGNED_INT = 5;
    static final int UNSIGNED_SHORT = 6;

    /** Floating-point blanks of NVIDIA's tools start here (2^47): no quantity of ours is as large. */
    private static final double BLANK_DOUBLE = 140737488355328.0;

    /** The whole number, or nothing where the type is not known to us or the value is a blank. */
    OptionalLong whole() {
        return switch (type) {
            case DOUBLE -> rounded(Double.longBitsToDouble(bits));
            case UNSIGNED_INT -> OptionalLong.of(bits & 0xFFFFFFFFL);
            case UNSIGNED_LONG, UNSIGNED_LONG_LONG -> bits < 0 ? OptionalLong.empty() : OptionalLong.of(bits);
            case SIGNED_LONG_LONG -> OptionalLong.of(bits);
            case SIGNED_INT -> OptionalLong.of(signExtended(bits));
            case UNSIGNED_SHORT -> OptionalLong.of(bits & 0xFFFF);
            default -> OptionalLong.empty();
        };
    }

    private static long signExtended(long bits) {
        return (bits << 32) >> 32;
    }

    private static OptionalLong rounded(double value) {
        return Math.abs(value) < BLANK_DOUBLE ? OptionalLong.of(Math.round(value)) : OptionalLong.empty();
    }

    String typeName() {
        return switch (type) {
            case DOUBLE -> "double";
            case UNSIGNED_INT -> "unsigned int";
            case UNSIGNED_LONG -> "unsigned long";
            case UNSIGNED_LONG_LONG -> "unsigned long long";
            case SIGNED_LONG_LONG -> "signed long long";
            case SIGNED_INT -> "signed int";
            case UNSIGNED_SHORT -> "unsigned short";
            default -> "type " + type;
        };
    }

    /** As a person reads it, blanks included. */
    String text() {
        return switch (type) {
            case DOUBLE -> Double.toString(Double.longBitsToDouble(bits));
            case UNSIGNED_LONG, UNSIGNED_LONG_LONG -> Long.toUnsignedString(bits);
            default -> whole().isPresent() ? Long.toString(whole().getAsLong()) : "0x" + Long.toHexString(bits);
        };
    }
}
