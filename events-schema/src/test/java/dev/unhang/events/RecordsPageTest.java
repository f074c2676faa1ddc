package dev.unhang.events;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class RecordsPageTest {

    /** Written by protoc in the build, with the comments. */
    private static final Path SCHEMA = Path.of("target/schema.binpb");

    @Test
    void theReferencePageIsWhatTheSchemaSays() throws IOException {
        GoldenFile.same(Path.of("../docs/reference/records.md"), page());
    }

    @Test
    void thePageHasTypesPresenceAndTheCommentOfEachField() throws IOException {
        assertThat(page())
                .contains("### NodeSample *", "### GpuReading\n")
                .contains("| `util` | 3 | optional uint32 | share of time with a kernel running, percent |")
                .contains("| `kernel` | 12 | one of `event`: [KernelEvent](#kernelevent) |")
                .contains("| `labels` | 15 | map of string to string |")
                .contains("| `READ_STATUS_ABSENT` | 3 | no such device, driver, file or daemon |");
    }

    private static String page() throws IOException {
        try (InputStream in = Files.newInputStream(SCHEMA)) {
            return RecordsPage.of(FileDescriptorSet.parseFrom(in));
        }
    }
}
