package dev.unhang.collector.source.nvml;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs seen since the collector started, over any number of NVML sessions: a GPU that is lost, stuck, released or no
 * longer listed keeps its name in the readings, and a link that was once active is missed when it is not. Any thread.
 */
final class KnownGpus {

    /**
     * @param uuid 16 bytes
     * @param pci {@code 0000:1a:00}
     */
    record Gpu(int index, ByteString uuid, String pci) {}

    private final Map<ByteString, Gpu> byUuid = new HashMap<>();
    private final Map<ByteString, Long> linksSeenActive = new HashMap<>();

    synchronized void remember(Gpu gpu) {
        byUuid.put(gpu.uuid(), gpu);
    }

    /** In the order of their indexes. */
    synchronized List<Gpu> all() {
        List<Gpu> all = new ArrayList<>(byUuid.values());
        all.sort(Comparator.comparingInt(Gpu::index));
        return all;
    }

    /** Adds the links that are active now (bit = link) and answers all that ever were. */
    synchronized long sawActive(ByteString uuid, long links) {
        return linksSeenActive.merge(uuid, links, (before, now) -> before | now);
    }

    /** The GPU that last had this index, unless {@code elsewhere} says that it is found at another one now. */
    synchronized Optional<Gpu> lastAt(int index, List<ByteString> elsewhere) {
        return byUuid.values().stream()
                .filter(gpu -> gpu.index() == index && !elsewhere.contains(gpu.uuid()))
                .findFirst();
    }

    /** The 16 bytes of {@code GPU-8d5a…}; null where this is no UUID. */
    static @Nullable ByteString uuidBytes(String text) {
        try {
            UUID uuid = UUID.fromString(text.startsWith("GPU-") ? text.substring(4) : text);
            return ByteString.copyFrom(ByteBuffer.allocate(16)
                    .putLong(uuid.getMostSignificantBits())
                    .putLong(uuid.getLeastSignificantBits())
                    .flip());
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
