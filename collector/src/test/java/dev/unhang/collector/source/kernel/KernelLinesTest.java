package dev.unhang.collector.source.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.KernelEvent;
import dev.unhang.events.v1.KernelKind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Real lines from public reports, each with what it must give; negative examples too. */
class KernelLinesTest {

    @ParameterizedTest
    @MethodSource("lines")
    void everyKnownLineGivesWhatItSays(String row) {
        String[] expected = row.split("\t", -1);
        LogRecord line = Objects.requireNonNull(record("4,1,1,-;" + expected[9]));

        KernelEvent.Builder event = KernelLines.classify(line.text());

        if (expected[0].equals("-")) {
            assertThat(event).isNull();
            return;
        }
        KernelEvent.Builder wanted = KernelEvent.newBuilder()
                .setKind(KernelKind.valueOf("KERNEL_KIND_" + expected[0]))
                .setCode(Integer.parseInt(expected[1]))
                .setPci(orEmpty(expected[2]))
                .setPid(Integer.parseInt(expected[3]))
                .setProcess(orEmpty(expected[4]))
                .setSeverity(orEmpty(expected[5]))
                .setSubcode(Integer.parseInt(expected[6]))
                .setLink(Integer.parseInt(expected[7]))
                .setCount(1);
        if (!expected[8].equals("-")) {
            wanted.setHasGpuInstance(true).setGpuInstance(Integer.parseInt(expected[8]));
        }
        assertThat(event).isNotNull();
        assertThat(Objects.requireNonNull(event).clone().clearText().build()).isEqualTo(wanted.build());
        assertThat(event.getText()).startsWith(line.text().substring(0, 10));
    }

    static Stream<String> lines() throws IOException {
        try (InputStream in = Objects.requireNonNull(KernelLinesTest.class.getResourceAsStream("/kernel/lines.tsv"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines().filter(row -> !row.startsWith("#")).toList().stream();
        }
    }

    @Test
    void aLineOfAHundredKilobytesIsAnEventOfHalfAKilobyte() {
        KernelEvent.Builder event =
                KernelLines.classify("NVRM: Xid (PCI:0000:3f:00): 13, pid=1, name=x, " + "é ".repeat(50_000));

        assertThat(event).isNotNull();
        assertThat(Objects.requireNonNull(event).getCode()).isEqualTo(13);
        assertThat(event.getText().getBytes(StandardCharsets.UTF_8).length).isBetween(509, 512);
    }

    @Test
    void longLinesOfNothingAreQuick() {
        for (String piece : new String[] {
            "NVRM: GSP ", "NVRM: Xid (", "INFO: task a:", "Out of memory", "mlx5_core 0000:41:00.0: Link "
        }) {
            assertThat(KernelLines.classify("x" + piece.repeat(10_000))).isNull();
        }
    }

    @Test
    void escapedBytesAreReadAndKeysAreLeftOut() {
        LogRecord line = record(
                "4,339,5140900,-,caller=T1;kmsg: one\\x0atwo \\x5c tab\\x09 \\xc3\\xa9 \\xzz\n SUBSYSTEM=pci\n DEVICE=+pci:0000:1a:00.0\n");

        assertThat(line).isEqualTo(new LogRecord(true, 339, 5140900, "kmsg: one\ntwo \\ tab\t é \\xzz"));
    }

    @Test
    void whatAProgramWritesIsNotFromTheKernel() {
        assertThat(Objects.requireNonNull(record("7,1,1,-;a")).fromKernel()).isTrue();
        assertThat(Objects.requireNonNull(record("8,1,1,-;a")).fromKernel()).isFalse();
        assertThat(Objects.requireNonNull(record("12,1,1,-;a")).fromKernel()).isFalse();
    }

    @Test
    void whatIsNoRecordIsNone() {
        assertThat(record("")).isNull();
        assertThat(record("4,1;x")).isNull();
        assertThat(record("a,b,c,-;x")).isNull();
        assertThat(record("no header")).isNull();
    }

    static @org.jspecify.annotations.Nullable LogRecord record(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return LogRecord.parse(bytes, bytes.length);
    }

    private static String orEmpty(String text) {
        return text.equals("-") ? "" : text;
    }
}
