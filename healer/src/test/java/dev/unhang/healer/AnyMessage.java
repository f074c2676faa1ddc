package dev.unhang.healer;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.List;
import java.util.Random;

/**
 * Messages that can be read and make no sense: any field may be missing, extreme, of an enum value that only a newer
 * version knows, or contradict another. All that is drawn comes from one seed.
 */
final class AnyMessage {

    private static final List<String> TEXTS = List.of(
            "",
            "n1",
            "n2",
            "node:n1",
            "nic:n1/0000:5c:00.0/0",
            "nic:",
            "gpu:",
            "job:train@0",
            "job:",
            "0000:5c:00.0/0",
            "/",
            "none",
            "\u0000",
            "forget",
            "dismiss",
            "pause",
            "x".repeat(5_000));
    private static final long[] NUMBERS = {
        0,
        1,
        2,
        3,
        79,
        -1,
        1_000,
        60_000,
        1_000_000_000L,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        Long.MAX_VALUE,
        Long.MIN_VALUE
    };
    private static final double[] FRACTIONS = {0, 1, -1, Double.NaN, Double.POSITIVE_INFINITY, Double.MAX_VALUE};
    private static final int DEEPEST = 6;

    private final Random random;

    AnyMessage(long seed) {
        random = new Random(seed);
    }

    Message like(Message type) {
        return fill(type.newBuilderForType(), 0).build();
    }

    private Message.Builder fill(Message.Builder builder, int depth) {
        for (FieldDescriptor field : builder.getDescriptorForType().getFields()) {
            if (random.nextInt(4) == 0 || depth > DEEPEST) {
                continue;
            }
            if (field.isRepeated()) {
                int count = random.nextInt(4);
                for (int i = 0; i < count; i++) {
                    builder.addRepeatedField(field, value(builder, field, depth));
                }
            } else {
                builder.setField(field, value(builder, field, depth));
            }
        }
        return builder;
    }

    private Object value(Message.Builder of, FieldDescriptor field, int depth) {
        return switch (field.getJavaType()) {
            case INT -> (int) number();
            case LONG -> number();
            case FLOAT -> (float) FRACTIONS[random.nextInt(FRACTIONS.length)];
            case DOUBLE -> FRACTIONS[random.nextInt(FRACTIONS.length)];
            case BOOLEAN -> random.nextBoolean();
            case STRING -> TEXTS.get(random.nextInt(TEXTS.size()));
            case BYTE_STRING -> ByteString.copyFrom(new byte[random.nextBoolean() ? 16 : random.nextInt(3)]);
            case ENUM ->
                field.getEnumType()
                        .findValueByNumberCreatingIfUnknown(
                                random.nextInt(field.getEnumType().getValues().size() + 3));
            case MESSAGE -> fill(of.newBuilderForField(field), depth + 1).build();
        };
    }

    private long number() {
        return random.nextBoolean() ? NUMBERS[random.nextInt(NUMBERS.length)] : random.nextInt(100_000);
    }
}
