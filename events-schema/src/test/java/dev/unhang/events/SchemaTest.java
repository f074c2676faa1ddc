package dev.unhang.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The schema grows and never changes: every line of the snapshot must still hold. A line that was never in a release
 * may be taken out of the snapshot by hand, by somebody who can tell why.
 */
class SchemaTest {

    private static final Path SNAPSHOT = Path.of("src/test/resources/golden/schema-v1.txt");

    @Test
    void nothingThatWasEverWrittenIsRemovedRenumberedOrRetyped() throws IOException {
        assertThat(SNAPSHOT).as(GoldenFile.hint(SNAPSHOT)).exists();
        assertThat(incompatible(Files.readAllLines(SNAPSHOT), Schema.lines()))
                .as("these are gone or not as they were; a change must be a new field with a new number")
                .isEmpty();
    }

    @Test
    void theSnapshotKnowsEveryField() throws IOException {
        if (GoldenFile.WRITE && Files.exists(SNAPSHOT)) {
            assertThat(incompatible(Files.readAllLines(SNAPSHOT), Schema.lines()))
                    .as("the snapshot is not written over an incompatible change")
                    .isEmpty();
        }
        GoldenFile.same(SNAPSHOT, String.join("\n", Schema.lines()) + "\n");
    }

    @Test
    void aRemovedARenumberedAndARetypedFieldIsIncompatibleAndANewOneIsNot() {
        String field = "field unhang.events.v1.Pulse seq = 3 one uint64";
        assertThat(incompatible(List.of(field), List.of(field, "field unhang.events.v1.Pulse more = 4 one uint64")))
                .isEmpty();
        assertThat(incompatible(List.of(field), List.of())).containsExactly(field);
        assertThat(incompatible(List.of(field), List.of(field.replace("= 3", "= 4"))))
                .containsExactly(field);
        assertThat(incompatible(List.of(field), List.of(field.replace("uint64", "sint64"))))
                .containsExactly(field);
        assertThat(incompatible(List.of(field), List.of(field.replace("one", "repeated"))))
                .containsExactly(field);
    }

    @Test
    void aLineOfTheSchemaNamesNumberPresenceAndType() {
        assertThat(Schema.lines())
                .contains(
                        "field unhang.events.v1.Pulse seq = 3 one uint64",
                        "field unhang.events.v1.NodeSample gpus = 8 repeated unhang.events.v1.GpuReading",
                        "field unhang.events.v1.GpuReading util = 3 optional uint32",
                        "field unhang.events.v1.NodeEvent kernel = 12 oneof(event) unhang.events.v1.KernelEvent",
                        "enum unhang.events.v1.ReadStatus READ_STATUS_OK = 0");
    }

    private static List<String> incompatible(List<String> before, List<String> now) {
        return before.stream()
                .filter(line -> !line.isBlank() && !now.contains(line))
                .toList();
    }
}
