package dev.unhang.collector.source.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.unhang.collector.source.libc.KernelLog;
import dev.unhang.events.v1.KernelEvent;
import dev.unhang.events.v1.KernelKind;
import dev.unhang.events.v1.Loss;
import dev.unhang.events.v1.NodeEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelSourceTest {

    private static final String XID_79 =
            "NVRM: Xid (PCI:0000:3f:00): 79, pid=1234, name=x, GPU has fallen off the bus.";

    private final AtomicLong now = new AtomicLong(1);
    private final ScriptedLog log = new ScriptedLog();
    private final KernelSource source = new KernelSource(() -> log, now::get);
    private long seq = 100;

    @Test
    void aLineBecomesAnEventWithItsPlaceInTheLog() throws IOException {
        kernel(XID_79);

        assertThat(read())
                .containsExactly(KernelEvent.newBuilder()
                        .setKind(KernelKind.KERNEL_KIND_XID)
                        .setCode(79)
                        .setPci("0000:3f:00")
                        .setPid(1234)
                        .setProcess("x")
                        .setText(XID_79)
                        .setLogSeq(100)
                        .setLogUsec(100_000)
                        .setCount(1)
                        .build());
        assertThat(read()).isEmpty();
    }

    @Test
    void aLineThatAProgramWroteIsNotBelieved() throws IOException {
        log.record("12,100,1,-;" + XID_79);

        assertThat(read()).isEmpty();
    }

    @Test
    void equalLinesAreOneEventWithACount() throws IOException {
        for (int i = 0; i < 800; i++) {
            kernel(XID_79);
        }

        assertThat(read()).extracting(KernelEvent::getCount).containsExactly(800);
    }

    @Test
    void aFloodIsToldEachTenSecondsAndSomethingNewAtOnce() throws IOException {
        kernel(XID_79);
        assertThat(read()).hasSize(1);
        kernel(XID_79);
        now.addAndGet(EventFold.EACH_NS - 1);
        kernel(XID_79.replace("1234", "1235"));
        kernel(XID_79.replace("3f", "4f"));
        kernel(XID_79.replace(": 79", ": 95"));
        assertThat(read()).extracting(KernelEvent::getPid).containsExactly(1235, 1234, 1234);
        kernel(XID_79);
        now.addAndGet(1);

        assertThat(read()).extracting(KernelEvent::getCount).containsExactly(2);
    }

    @Test
    void afterTenQuietSecondsALineIsNewsAgain() throws IOException {
        kernel(XID_79);
        read();
        now.addAndGet(EventFold.EACH_NS);
        assertThat(read()).isEmpty();
        kernel(XID_79);

        assertThat(read()).hasSize(1);
    }

    @Test
    void everNewPidsAreFoldedAndHeldInBoundedMemory() {
        EventFold fold = new EventFold();
        for (int pid = 1; pid <= 100_000; pid++) {
            fold.add(xid(13, "0000:3f:00", pid));
        }
        List<KernelEvent> events = fold.flush(1);

        assertThat(events).hasSize(EventFold.MOST_PIDS + 1);
        assertThat(events.stream().mapToInt(KernelEvent::getCount).sum()).isEqualTo(100_000);
        fold.add(xid(13, "0000:4f:00", 7));
        assertThat(fold.flush(2)).hasSize(1);
    }

    @Test
    void everNewAddressesAndCodesAreHeldInBoundedMemoryAndNoneIsLost() {
        EventFold fold = new EventFold();
        for (int i = 0; i < 100_000; i++) {
            fold.add(xid(i, Integer.toHexString(i), i));
        }

        assertThat(fold.size()).isLessThan(3000);
        assertThat(fold.flush(1).stream().mapToInt(KernelEvent::getCount).sum()).isEqualTo(100_000);
    }

    @Test
    void overwrittenRecordsAreAGapWithTheirNumber() throws IOException {
        kernel("nothing of interest");
        log.answer(KernelLog.OVERWRITTEN);
        seq = 151;
        kernel(XID_79);

        List<KernelEvent> events = read();

        assertThat(events)
                .extracting(KernelEvent::getKind)
                .containsExactly(KernelKind.KERNEL_KIND_LOG_GAP, KernelKind.KERNEL_KIND_XID);
        assertThat(events.get(0).getCount()).isEqualTo(50);
        assertThat(source.read().part().getLostList())
                .containsExactly(
                        Loss.newBuilder().setKind("kernel-gap").setCount(50).build());
    }

    @Test
    void aJumpOfTheNumberIsAGapEvenWithoutAnError() throws IOException {
        kernel("a");
        seq = 103;
        kernel("b");

        assertThat(read()).extracting(KernelEvent::getCount).containsExactly(2);
    }

    @Test
    void linesOfOtherProgramsCountForTheNumberAndAreNoGap() throws IOException {
        kernel("a");
        log.record("12,101,1,-;systemd[1]: hello");
        seq = 102;
        kernel("b");

        assertThat(read()).isEmpty();
    }

    @Test
    void aRecordLongerThanTheBufferIsReadWithALargerOne() throws IOException {
        kernel("NVRM: Xid (PCI:0000:3f:00): 13, " + "z".repeat(100_000));
        kernel(XID_79);

        assertThat(read()).extracting(KernelEvent::getCode).containsExactly(13, 79);
    }

    @Test
    void aLogThatFailsIsOpenedAgainAtItsEndAndThatIsNoGap() throws IOException {
        kernel("a");
        read();
        log.fail = true;
        assertThatThrownBy(source::read).isInstanceOf(IOException.class);
        log.fail = false;
        seq = 500;
        kernel(XID_79);

        assertThat(read()).extracting(KernelEvent::getKind).containsExactly(KernelKind.KERNEL_KIND_XID);
        assertThat(log.closed).isEqualTo(1);
    }

    @Test
    void aLogThatIsNotThereIsAbsent(@TempDir Path dir) {
        assertThatThrownBy(LogDevice.at(dir.resolve("kmsg"))::open).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void theDeviceIsOpenedAtItsEnd(@TempDir Path dir) throws IOException {
        Path file = dir.resolve("kmsg");
        Files.writeString(file, "4,1,1,-;old");
        try (LogDevice device = LogDevice.at(file).open()) {
            byte[] buffer = new byte[100];
            assertThat(device.read(buffer)).isZero();
            Files.writeString(file, "4,1,1,-;old4,2,2,-;new");
            int length = device.read(buffer);
            assertThat(new String(buffer, 0, length, StandardCharsets.UTF_8)).isEqualTo("4,2,2,-;new");
        }
    }

    private void kernel(String text) {
        log.record("4," + seq + "," + seq * 1000 + ",-;" + text + "\n");
        seq++;
    }

    private List<KernelEvent> read() throws IOException {
        return source.read().events().stream().map(NodeEvent::getKernel).toList();
    }

    private static KernelEvent xid(int code, String pci, int pid) {
        return KernelEvent.newBuilder()
                .setKind(KernelKind.KERNEL_KIND_XID)
                .setCode(code)
                .setPci(pci)
                .setPid(pid)
                .setCount(1)
                .build();
    }

    /** Answers as the kernel does: one record a read, an error where the buffer is too small. */
    private static final class ScriptedLog implements LogDevice {

        private final Deque<Object> script = new ArrayDeque<>();
        private boolean fail;
        private int closed;

        void record(String text) {
            script.add(text.getBytes(StandardCharsets.UTF_8));
        }

        void answer(int code) {
            script.add(code);
        }

        @Override
        public int read(byte[] buffer) throws IOException {
            if (fail) {
                throw new IOException("the kernel log: errno 5");
            }
            Object next = script.peek();
            if (next == null) {
                return KernelLog.NOTHING;
            }
            if (next instanceof byte[] bytes) {
                if (bytes.length > buffer.length) {
                    return KernelLog.TOO_LONG;
                }
                System.arraycopy(bytes, 0, buffer, 0, bytes.length);
                script.remove();
                return bytes.length;
            }
            script.remove();
            return (Integer) next;
        }

        @Override
        public void close() {
            closed++;
        }
    }
}
