package dev.unhang.events;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;

/**
 * Messages with every field set, for golden files. A value depends on its field's number alone, so that a new field
 * changes nothing else. A message that is a choice of several comes in as many variants.
 */
final class FullMessage {

    private static final int DEEPEST = 12;

    private FullMessage() {}

    /** Full messages of the type of {@code empty}; together they set every field of it and of all inside it. */
    static List<Message> variants(Message empty) {
        List<Message> full = new ArrayList<>();
        for (int variant = 0; variant < count(empty.getDescriptorForType(), 0); variant++) {
            full.add(fill(empty.newBuilderForType(), variant));
        }
        return full;
    }

    private static Message fill(Message.Builder builder, int variant) {
        for (FieldDescriptor field : builder.getDescriptorForType().getFields()) {
            OneofDescriptor choice = field.getRealContainingOneof();
            if (choice != null
                    && choice.getFields().indexOf(field)
                            != variant % choice.getFields().size()) {
                continue;
            }
            if (!field.isRepeated()) {
                builder.setField(field, value(builder, field, variant));
                continue;
            }
            int elements = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE
                    ? Math.max(field.isMapField() ? 1 : 2, count(field.getMessageType(), 0))
                    : 2;
            for (int i = 0; i < elements; i++) {
                builder.addRepeatedField(field, value(builder, field, i));
            }
        }
        return builder.build();
    }

    private static Object value(Message.Builder builder, FieldDescriptor field, int variant) {
        int number = field.getNumber();
        return switch (field.getType()) {
            case MESSAGE, GROUP -> fill(builder.newBuilderForField(field), variant);
            case STRING -> field.getName() + "-é" + (variant == 0 ? "" : variant);
            case BYTES -> ByteString.copyFrom(new byte[] {(byte) number, 0, (byte) 0xff, (byte) variant});
            case BOOL -> true;
            case ENUM -> valueOf(field);
            case DOUBLE -> number + variant + 0.5;
            case FLOAT -> number + variant + 0.5f;
            // More than 31 bits where the type has them: a change to a narrower type shows.
            case UINT64, FIXED64, INT64, SFIXED64 -> (1L << 62) + number + variant;
            case SINT64 -> -(1L << 61) - number - variant;
            case UINT32, FIXED32 -> -1 - number - variant;
            case INT32, SFIXED32, SINT32 -> Integer.MIN_VALUE + number + variant;
        };
    }

    private static EnumValueDescriptor valueOf(FieldDescriptor field) {
        return field.getEnumType().getValues().get(1);
    }

    private static int count(Descriptor type, int depth) {
        if (depth > DEEPEST) {
            throw new IllegalStateException(type.getFullName() + " contains itself: no message can have all fields");
        }
        int most = 1;
        for (OneofDescriptor choice : type.getRealOneofs()) {
            most = Math.max(most, choice.getFields().size());
        }
        for (FieldDescriptor field : type.getFields()) {
            if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                int inside = count(field.getMessageType(), depth + 1);
                most = field.isRepeated() ? most : Math.max(most, inside);
            }
        }
        return most;
    }
}
