package dev.unhang.events;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Holds the bytes and the JSON of every record type: what was written by an older version must mean the same. */
class GoldenTest {

    private static final Path FOLDER = Path.of("src/test/resources/golden/v1");

    @TestFactory
    Stream<DynamicTest> eachRecordTypeHasItsGoldenBytesAndJson() {
        return golden().entrySet().stream()
                .map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> {
                    GoldenFile.same(file(entry.getKey(), "bin"), bytes(entry.getValue()));
                    GoldenFile.same(file(entry.getKey(), "json"), json(entry.getValue()));
                }));
    }

    @TestFactory
    Stream<DynamicTest> theGoldenBytesReadWithoutALossAndWriteTheSameAgain() {
        return golden().entrySet().stream()
                .map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> {
                    byte[] stored = Files.readAllBytes(file(entry.getKey(), "bin"));
                    Message read = entry.getValue().getParserForType().parseFrom(stored);
                    assertThat(read.getUnknownFields().asMap()).isEmpty();
                    assertThat(bytes(read)).isEqualTo(stored);
                    Message.Builder fromJson = entry.getValue().newBuilderForType();
                    JsonFormat.parser().merge(Files.readString(file(entry.getKey(), "json")), fromJson);
                    assertThat(fromJson.build()).isEqualTo(read);
                }));
    }

    @Test
    void theGoldenMessagesTogetherSetEveryField() {
        Set<FieldDescriptor> set = new HashSet<>();
        golden().values().forEach(message -> collect(message, set));
        List<String> unset = new ArrayList<>();
        Schema.files()
                .forEach(file -> file.getMessageTypes()
                        .forEach(message -> message.getFields().stream()
                                .filter(field -> !set.contains(field))
                                .forEach(field -> unset.add(field.getFullName()))));
        assertThat(unset)
                .as("no record carries these: is the type that should missing from Codec?")
                .isEmpty();
    }

    @Test
    void noGoldenFileIsOfATypeThatIsGone() throws IOException {
        Set<String> expected = new TreeSet<>();
        golden().keySet().forEach(name -> expected.addAll(List.of(name + ".bin", name + ".json")));
        try (Stream<Path> files = Files.list(FOLDER)) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    /** A choice of several is one file for each: {@code NodeEvent.kernel}. */
    private static Map<String, Message> golden() {
        Map<String, Message> golden = new TreeMap<>();
        for (Message empty : Schema.records()) {
            Descriptor type = empty.getDescriptorForType();
            List<Message> variants = FullMessage.variants(empty);
            for (int i = 0; i < variants.size(); i++) {
                String suffix = variants.size() == 1
                        ? ""
                        : type.getRealOneofs().size() == 1
                                ? "."
                                        + variants.get(i)
                                                .getOneofFieldDescriptor(
                                                        type.getRealOneofs().get(0))
                                                .getName()
                                : "." + i;
                golden.put(type.getName() + suffix, variants.get(i));
            }
        }
        return golden;
    }

    private static void collect(Message message, Set<FieldDescriptor> set) {
        message.getAllFields().forEach((field, value) -> {
            set.add(field);
            if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                List<?> inside = value instanceof List<?> list ? list : List.of(value);
                inside.forEach(one -> collect((Message) one, set));
            }
        });
    }

    private static byte[] bytes(Message message) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        out.useDeterministicSerialization();
        message.writeTo(out);
        out.flush();
        return bytes.toByteArray();
    }

    private static String json(Message message) throws IOException {
        return JsonFormat.printer().sortingMapKeys().print(message) + "\n";
    }

    private static Path file(String name, String kind) {
        return FOLDER.resolve(name + "." + kind);
    }
}
