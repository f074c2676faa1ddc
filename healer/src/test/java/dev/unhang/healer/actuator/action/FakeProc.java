package dev.unhang.healer.actuator.action;

import dev.unhang.healer.command.ProcessName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A {@code /proc} of a test, in a folder. */
final class FakeProc {

    static final String BOOT = "0123456789abcdef0123456789abcdef";

    private final Path root;

    FakeProc(Path root) throws IOException {
        this.root = root;
        Files.createDirectories(root.resolve("sys/kernel/random"));
        Files.writeString(root.resolve("sys/kernel/random/boot_id"), "01234567-89ab-cdef-0123-456789abcdef\n");
    }

    Path root() {
        return root;
    }

    ProcessName process(int pid, String comm, char state, int parent) throws IOException {
        Path folder = Files.createDirectories(root.resolve(Integer.toString(pid)));
        Files.writeString(
                folder.resolve("stat"),
                pid + " (" + comm + ") " + state + " " + parent + " 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " + pid * 10L
                        + " 0 0");
        Files.writeString(folder.resolve("environ"), "");
        return new ProcessName(BOOT, pid, pid * 10L);
    }

    void file(int pid, String name, String text) throws IOException {
        Path file = root.resolve(Integer.toString(pid)).resolve(name);
        Files.createDirectories(file.resolveSibling("."));
        Files.writeString(file, text);
    }

    void opens(int pid, int fd, String path) throws IOException {
        Path folder =
                Files.createDirectories(root.resolve(Integer.toString(pid)).resolve("fd"));
        Files.createSymbolicLink(folder.resolve(Integer.toString(fd)), Path.of(path));
    }

    void gpu(String address, String uuid, int minor) throws IOException {
        Path folder = Files.createDirectories(root.resolve("driver/nvidia/gpus").resolve(address));
        Files.writeString(
                folder.resolve("information"),
                "Model: \t\t NVIDIA H200\nIRQ:   \t\t 184\nGPU UUID: \t " + uuid
                        + "\nVideo BIOS: \t 96.00.99.00.02\nBus Type: \t PCIe\nBus Location: \t " + address
                        + "\nDevice Minor: \t " + minor + "\nGPU Excluded:\t No\n");
    }
}
