package dev.unhang.events;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DescriptorProtos.SourceCodeInfo.Location;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Prints the reference page of all records from the compiled {@code .proto} files and their comments. */
final class RecordsPage {

    private static final int MESSAGE = FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER;
    private static final int ENUM = FileDescriptorProto.ENUM_TYPE_FIELD_NUMBER;
    private static final int SYNTAX = FileDescriptorProto.SYNTAX_FIELD_NUMBER;
    private static final int FIELD = DescriptorProto.FIELD_FIELD_NUMBER;
    private static final int VALUE = EnumDescriptorProto.VALUE_FIELD_NUMBER;

    private final StringBuilder page = new StringBuilder("""
            # Records

            Generated from `events-schema/src/main/proto`; do not edit. Types marked with * may stand alone in a record;
            their `ce_type` is `dev.unhang.events.v1.` and the name. "Absent" of an `optional` field means "not read".
            """);
    private final Set<String> records = Codec.types().stream()
            .map(type -> type.substring(Codec.TYPE_PREFIX.length()))
            .collect(Collectors.toSet());

    private RecordsPage() {}

    static String of(FileDescriptorSet schema) {
        RecordsPage made = new RecordsPage();
        schema.getFileList().stream()
                .filter(file -> file.getPackage().equals("unhang.events.v1"))
                .sorted((a, b) -> a.getName().compareTo(b.getName()))
                .forEach(made::file);
        return made.page.toString();
    }

    private void file(FileDescriptorProto file) {
        Map<List<Integer>, String> comments = new HashMap<>();
        for (Location location : file.getSourceCodeInfo().getLocationList()) {
            String text = (location.getLeadingComments() + " " + location.getTrailingComments())
                    .replaceAll("\\s+", " ")
                    .strip();
            comments.put(List.copyOf(location.getPathList()), text);
        }
        String name = file.getName().substring(file.getName().lastIndexOf('/') + 1);
        page.append("\n## ").append(name).append('\n');
        paragraph(comments.getOrDefault(List.of(SYNTAX), ""));
        for (int i = 0; i < file.getMessageTypeCount(); i++) {
            message(file.getMessageType(i), i, comments);
        }
        for (int i = 0; i < file.getEnumTypeCount(); i++) {
            enumeration(file.getEnumType(i), i, comments);
        }
    }

    private void message(DescriptorProto message, int index, Map<List<Integer>, String> comments) {
        page.append("\n### ")
                .append(message.getName())
                .append(records.contains(message.getName()) ? " *" : "")
                .append('\n');
        paragraph(comments.getOrDefault(List.of(MESSAGE, index), ""));
        page.append("\n| field | no. | type | meaning |\n|---|---|---|---|\n");
        for (int i = 0; i < message.getFieldCount(); i++) {
            FieldDescriptorProto field = message.getField(i);
            row(
                    "`" + field.getName() + "`",
                    Integer.toString(field.getNumber()),
                    type(message, field),
                    comments.getOrDefault(List.of(MESSAGE, index, FIELD, i), ""));
        }
    }

    private void enumeration(EnumDescriptorProto type, int index, Map<List<Integer>, String> comments) {
        page.append("\n### ").append(type.getName()).append('\n');
        paragraph(comments.getOrDefault(List.of(ENUM, index), ""));
        page.append("\n| value | no. | meaning |\n|---|---|---|\n");
        for (int i = 0; i < type.getValueCount(); i++) {
            row(
                    "`" + type.getValue(i).getName() + "`",
                    Integer.toString(type.getValue(i).getNumber()),
                    comments.getOrDefault(List.of(ENUM, index, VALUE, i), ""));
        }
    }

    private static String type(DescriptorProto message, FieldDescriptorProto field) {
        for (DescriptorProto nested : message.getNestedTypeList()) {
            if (nested.getOptions().getMapEntry() && field.getTypeName().endsWith("." + nested.getName())) {
                return "map of " + bare(nested.getField(0)) + " to " + bare(nested.getField(1));
            }
        }
        if (field.getLabel() == FieldDescriptorProto.Label.LABEL_REPEATED) {
            return "repeated " + bare(field);
        }
        if (field.getProto3Optional()) {
            return "optional " + bare(field);
        }
        if (field.hasOneofIndex()) {
            return "one of `" + message.getOneofDecl(field.getOneofIndex()).getName() + "`: " + bare(field);
        }
        return bare(field);
    }

    private static String bare(FieldDescriptorProto field) {
        String name = field.getTypeName();
        if (name.isEmpty()) {
            return field.getType().name().substring("TYPE_".length()).toLowerCase(Locale.ROOT);
        }
        String last = name.substring(name.lastIndexOf('.') + 1);
        return "[" + last + "](#" + last.toLowerCase(Locale.ROOT) + ")";
    }

    private void paragraph(String text) {
        if (!text.isEmpty()) {
            page.append('\n').append(text).append('\n');
        }
    }

    private void row(String... cells) {
        for (String cell : cells) {
            page.append("| ").append(cell.replace("|", "\\|")).append(' ');
        }
        page.append("|\n");
    }
}
