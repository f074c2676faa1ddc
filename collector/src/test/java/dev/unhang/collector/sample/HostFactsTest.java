package dev.unhang.collector.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostFactsTest {

    @Test
    void aBootIdIsSixteenBytes() throws IOException {
        assertThat(HostFacts.parseBootId("00112233-4455-6677-8899-aabbccddeeff\n")
                        .toByteArray())
                .asHexString()
                .isEqualTo("00112233445566778899AABBCCDDEEFF");
    }

    @Test
    void aBootIdThatIsNoneStopsTheStart() {
        assertThatThrownBy(() -> HostFacts.parseBootId("nonsense"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("nonsense");
    }

    @Test
    void factsAreReadFromTheirFiles(@TempDir Path root) throws IOException {
        write(root, "proc/sys/kernel/hostname", "node-1\n");
        write(root, "proc/sys/kernel/osrelease", "6.18.0\n");
        write(root, "proc/meminfo", "MemTotal:       2097152 kB\nMemFree:  1 kB\n");
        write(root, "etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n");
        write(root, "etc/machine-id", "0123456789abcdef0123456789abcdef\n");
        HostFacts host = new HostFacts(root);

        assertThat(host.inventory().getHostname()).isEqualTo("node-1");
        assertThat(host.inventory().getKernel()).isEqualTo("6.18.0");
        assertThat(host.inventory().getOs()).isEqualTo("Debian GNU/Linux 12");
        assertThat(host.inventory().getMemoryMib()).isEqualTo(2048);
        assertThat(host.machineId().size()).isEqualTo(16);
        assertThat(host.machineId().toStringUtf8()).doesNotContain("0123");
    }

    @Test
    void aContainerWithoutTheseFilesHasNoMachineId(@TempDir Path root) {
        assertThat(new HostFacts(root).machineId().isEmpty()).isTrue();
        assertThat(new HostFacts(root).inventory().getMemoryMib()).isZero();
    }

    private static void write(Path root, String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
