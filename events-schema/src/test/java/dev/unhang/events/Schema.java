package dev.unhang.events;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;

/** The schema as the generated classes know it. */
final class Schema {

    private Schema() {}

    /** An empty message of each type that may stand alone in a record. */
    static List<Message> records() {
        return Codec.types().stream().map(Schema::empty).toList();
    }

    /** All our {@code .proto} files, by name. */
    static List<FileDescriptor> files() {
        TreeMap<String, FileDescriptor> files = new TreeMap<>();
        for (Message message : records()) {
            FileDescriptor file = message.getDescriptorForType().getFile();
            files.put(file.getName(), file);
            file.getDependencies().forEach(needed -> files.put(needed.getName(), needed));
        }
        return List.copyOf(files.values());
    }

    /** One line for each field and enum value, with all that must never change. */
    static List<String> lines() {
        List<String> lines = new ArrayList<>();
        for (FileDescriptor file : files()) {
            file.getMessageTypes().forEach(message -> addMessage(message, lines));
            file.getEnumTypes().forEach(type -> addEnum(type, lines));
        }
        return List.copyOf(lines);
    }

    private static void addMessage(Descriptor message, List<String> lines) {
        message.getFields().stream()
                .sorted(Comparator.comparingInt(FieldDescriptor::getNumber))
                .forEach(field -> lines.add(line(field)));
        message.getNestedTypes().forEach(nested -> addMessage(nested, lines));
        message.getEnumTypes().forEach(nested -> addEnum(nested, lines));
    }

    private static void addEnum(EnumDescriptor type, List<String> lines) {
        type.getValues().stream()
                .sorted(Comparator.comparingInt(EnumValueDescriptor::getNumber))
                .forEach(value ->
                        lines.add("enum " + type.getFullName() + " " + value.getName() + " = " + value.getNumber()));
    }

    private static String line(FieldDescriptor field) {
        return "field " + field.getContainingType().getFullName() + " " + field.getName() + " = " + field.getNumber()
                + " " + label(field) + " " + type(field);
    }

    private static String label(FieldDescriptor field) {
        if (field.isRepeated()) {
            return field.isPackable() && !field.isPacked() ? "repeated-unpacked" : "repeated";
        }
        if (field.getRealContainingOneof() != null) {
            return "oneof(" + field.getRealContainingOneof().getName() + ")";
        }
        return field.hasPresence() && field.getJavaType() != FieldDescriptor.JavaType.MESSAGE ? "optional" : "one";
    }

    private static String type(FieldDescriptor field) {
        return switch (field.getJavaType()) {
            case MESSAGE -> field.getMessageType().getFullName();
            case ENUM -> field.getEnumType().getFullName();
            default -> field.getType().name().toLowerCase(java.util.Locale.ROOT);
        };
    }

    private static Message empty(String type) {
        String name = type.substring(Codec.TYPE_PREFIX.length());
        Parser<? extends Message> parser = Objects.requireNonNull(Codec.parser(name), name);
        try {
            return parser.parseFrom(new byte[0]);
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("no bytes are an empty message of every type", e);
        }
    }
}
