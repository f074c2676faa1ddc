package dev.unhang.healer.detect.node;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.GpuInventory;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.KernelEvent;
import dev.unhang.events.v1.KernelKind;
import dev.unhang.events.v1.LearnedGpu;
import dev.unhang.events.v1.LearnedNode;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.RdmaReading;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs and the network ports of one node: a watch for each that was ever read since the boot, and the names that the
 * inventory gives them. A device that is not read any more keeps its watch, since its absence is the evidence. Times are
 * the node's.
 */
final class Devices {

    private final Map<ByteString, GpuWatch> gpus = new LinkedHashMap<>();
    private final Map<String, PortWatch> ports = new LinkedHashMap<>();
    private final Map<String, ByteString> gpuByPci = new HashMap<>();
    private final Map<String, NicInventory> nics = new HashMap<>();

    /** GPUs of which the inventory does not say that they never tell whether they ask for a recovery. */
    private final Set<ByteString> askFor = new HashSet<>();

    private final List<GpuWatch> ofSample = new ArrayList<>();
    private final List<GpuWatch> ofSampleBefore = new ArrayList<>();
    private double idleMw = Double.NaN;
    private @Nullable LearnedNode learnedBefore;

    /** {@code seconds}: since the sample before; not a number where nothing can be compared with it. */
    void onSample(NodeSample sample, SourceFaults sources, double seconds, Now now) {
        for (GpuWatch gpu : gpus.values()) {
            gpu.absent();
        }
        ofSampleBefore.clear();
        ofSampleBefore.addAll(ofSample);
        ofSample.clear();
        idleMw = Double.NaN;
        for (GpuReading reading : sample.getGpusList()) {
            GpuWatch gpu = inOrder(reading.getUuid());
            gpu.onSample(reading, seconds, now);
            ofSample.add(gpu);
            if (Double.isNaN(idleMw)) {
                idleMw = 1.05 * gpu.idleMw();
            }
        }
        measurePorts(sample, sources, seconds, now);
    }

    /** The GPUs of the last sample, in its order. */
    List<GpuWatch> ofSample() {
        return ofSample;
    }

    Collection<PortWatch> ports() {
        return ports.values();
    }

    /** Power of a GPU of the last sample that does nothing, mW; not a number while none is known. */
    double idleMw() {
        return idleMw;
    }

    private void measurePorts(NodeSample sample, SourceFaults sources, double seconds, Now now) {
        for (PortWatch port : ports.values()) {
            port.begin();
        }
        for (NicReading reading : sample.getNicsList()) {
            port(reading.getId(), reading.getName()).nic(reading, seconds);
        }
        for (RdmaReading reading : sample.getRdmaList()) {
            port(reading.getId(), reading.getName()).rdma(reading, seconds);
        }
        boolean nicsListed = sources.answered("net");
        boolean rdmaListed = sources.answered("rdma");
        for (PortWatch port : ports.values()) {
            port.end(now, nicsListed, rdmaListed);
        }
    }

    /** Nearly all samples list the same GPUs in the same order. */
    private GpuWatch inOrder(ByteString uuid) {
        int next = ofSample.size();
        return next < ofSampleBefore.size() && ofSampleBefore.get(next).uuid.equals(uuid)
                ? ofSampleBefore.get(next)
                : gpu(uuid);
    }

    private GpuWatch gpu(ByteString uuid) {
        GpuWatch known = gpus.get(uuid);
        if (known == null) {
            known = new GpuWatch(uuid);
            gpus.put(uuid, known);
            LearnedNode learned = learnedBefore;
            if (learned != null) {
                restoreGpus(learned);
            }
        }
        return known;
    }

    private PortWatch port(String id, String name) {
        PortWatch known = ports.get(id);
        if (known == null) {
            known = new PortWatch(id, name.isEmpty() ? nicName(id) : name);
            ports.put(id, known);
            LearnedNode learned = learnedBefore;
            if (learned != null && learned.getNicsSeenUpList().contains(id)) {
                known.restoreWasUp();
            }
        }
        return known;
    }

    private String nicName(String id) {
        NicInventory nic = nics.get(id);
        return nic == null ? "" : nic.getName();
    }

    /** A GPU that no inventory has told of is not ours to blame. */
    void onKernel(KernelEvent event, Now now) {
        int xid = event.getKind() == KernelKind.KERNEL_KIND_XID
                ? event.getCode()
                : event.getKind() == KernelKind.KERNEL_KIND_GPU_GONE ? 79 : 0;
        ByteString uuid = gpuByPci.get(event.getPci());
        if (xid != 0 && uuid != null) {
            gpu(uuid).onXid(xid, event.getText(), now);
        }
    }

    void onInventory(NodeInventory next) {
        gpuByPci.clear();
        askFor.clear();
        for (GpuInventory gpu : next.getGpusList()) {
            gpuByPci.put(gpu.getPci(), gpu.getUuid());
            if (!gpu.getUnsupportedList().contains(GpuWatch.RECOVERY_FIELD)) {
                askFor.add(gpu.getUuid());
            }
        }
        nics.clear();
        for (NicInventory nic : next.getNicsList()) {
            nics.put(nic.getId(), nic);
            PortWatch port = ports.get(nic.getId());
            if (port != null) {
                port.named(nic.getName());
            }
        }
    }

    /** What can be said of each now. */
    void judge(String node, Now now, Consumer<Verdict> say) {
        for (PortWatch port : ports.values()) {
            if (port.mayBeSaid()) {
                say.accept(port.judge(node, now));
            }
        }
        for (GpuWatch gpu : gpus.values()) {
            if (gpu.mayBeSaid()) {
                say.accept(gpu.judge(node, askFor.contains(gpu.uuid), now));
            }
        }
    }

    /** A hash of all whose change is news, begun with {@code hash}. */
    int picture(int hash, NodeSample last) {
        int next = hash;
        for (PortWatch port : ports.values()) {
            next = 31 * next + (port.down() ? 1 : 2);
        }
        for (GpuReading gpu : last.getGpusList()) {
            next = 31 * next + gpu.getStatusValue();
        }
        return next;
    }

    void report(NodeReport.Builder report, Now now) {
        gpus.values().forEach(gpu -> report.addGpus(gpu.report()));
        ports.values().forEach(port -> report.addNics(port.report(now, nics.get(port.id))));
    }

    void forgetCounters() {
        gpus.values().forEach(GpuWatch::forgetCounters);
        ports.values().forEach(PortWatch::forgetCounters);
    }

    void rebooted() {
        gpus.clear();
        ofSample.clear();
        ports.clear();
    }

    void learned(LearnedNode.Builder learned) {
        gpus.values().forEach(gpu -> learned.addGpus(gpu.learned()));
        for (PortWatch port : ports.values()) {
            if (port.wasUp()) {
                learned.addNicsSeenUp(port.id);
            }
        }
    }

    /** What devices that are yet to be read get; null: nothing. */
    void remember(@Nullable LearnedNode learned) {
        learnedBefore = learned;
    }

    /** Gives what was learned to the devices that were read already. */
    void restore(LearnedNode learned) {
        restoreGpus(learned);
        for (String id : learned.getNicsSeenUpList()) {
            PortWatch port = ports.get(id);
            if (port != null) {
                port.restoreWasUp();
            }
        }
    }

    private void restoreGpus(LearnedNode learned) {
        for (LearnedGpu each : learned.getGpusList()) {
            GpuWatch gpu = gpus.get(each.getUuid());
            if (gpu != null) {
                gpu.restore(each);
            }
        }
    }
}
