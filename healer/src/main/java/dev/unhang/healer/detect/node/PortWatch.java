package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.NicInventory;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.RdmaReading;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Suspect;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One port of a node, known by its PCI address: its network device and its RDMA side. It is a fault when a port that was
 * up in this boot is down, or gone, while its node lives: suspected at once and confirmed when it has lasted three
 * seconds of the node's time. A port that was never up belongs to nobody.
 */
final class PortWatch {

    static final long CONFIRM_MS = 3_000;

    /** Up for so long before it is well: a port that flaps is not well in between. */
    static final long WELL_MS = 2_000;

    private static final int RDMA_ACTIVE = 4;

    /** A bridge without members has no carrier, which is no fault of anything. */
    private static final List<String> BRIDGES = List.of("docker", "br-", "virbr", "cni", "lxcbr", "lxdbr", "podman");

    /** What is wrong, worst last. */
    private enum Trouble {
        NONE,
        RDMA_NOT_ACTIVE,
        PEER_END,
        DOWN,
        ADMIN_DOWN,
        VANISHED
    }

    final String id;

    /** How the two sides of the port are called among the paths of a rank's traffic. */
    final String netPath;

    final String rdmaPath;

    private String name;
    private boolean bridge;

    private final Counter rx = new Counter();
    private final Counter tx = new Counter();
    private final Counter rdmaRx = new Counter();
    private final Counter rdmaTx = new Counter();

    private OperState state = OperState.OPER_STATE_UNKNOWN;
    private boolean hasNic;
    private boolean adminUp = true;
    private int rdmaState = -1;
    private boolean nicWasUp;
    private boolean rdmaWasUp;
    private long carrierChanges;
    private boolean seenNic;
    private boolean seenRdma;

    private Trouble nicTrouble = Trouble.NONE;
    private Trouble rdmaTrouble = Trouble.NONE;
    private Trouble trouble = Trouble.NONE;

    /** The last one that it had; what is said of a port that is up again, until it is well. */
    private Trouble lastTrouble = Trouble.NONE;

    private long sinceNodeMs;
    private long seenBadNodeMs;
    private long upSinceNodeMs;
    private boolean stands;

    PortWatch(String id, String name) {
        this.id = id;
        this.netPath = "net " + id;
        this.rdmaPath = "rdma " + id;
        this.name = "";
        named(name.isEmpty() ? id.substring(id.indexOf('/') + 1) : name);
    }

    /** How it is called now: by its sample, which bears a name only where it is not that of the inventory. */
    void named(String current) {
        if (!current.isEmpty() && !current.equals(name)) {
            name = current;
            bridge = BRIDGES.stream().anyMatch(current::startsWith);
        }
    }

    /** Another sample begins; the readings that it has of this port follow. */
    void begin() {
        seenNic = false;
        seenRdma = false;
    }

    void nic(NicReading reading, double seconds) {
        hasNic = true;
        named(reading.getName());
        if (reading.getStatus() == ReadStatus.READ_STATUS_ABSENT) {
            // A collector tells for a while of a device that it misses.
            state = OperState.OPER_STATE_NOT_PRESENT;
            rx.next(false, 0, seconds);
            tx.next(false, 0, seconds);
            return;
        }
        seenNic = true;
        boolean read = reading.getStatus() == ReadStatus.READ_STATUS_OK;
        rx.next(read && reading.hasRxBytes(), reading.getRxBytes(), seconds);
        tx.next(read && reading.hasTxBytes(), reading.getTxBytes(), seconds);
        if (!read) {
            return;
        }
        // A state that only a newer collector knows tells nothing.
        state = reading.getState() == OperState.UNRECOGNIZED ? OperState.OPER_STATE_UNKNOWN : reading.getState();
        adminUp = !reading.hasAdminUp() || reading.getAdminUp();
        carrierChanges = reading.getCarrierChanges();
        nicWasUp |= state == OperState.OPER_STATE_UP || (state == OperState.OPER_STATE_UNKNOWN && bytes(rx, tx) > 0);
    }

    void rdma(RdmaReading reading, double seconds) {
        seenRdma = true;
        boolean read = reading.getStatus() == ReadStatus.READ_STATUS_OK;
        rdmaRx.next(read && reading.hasRxBytes(), reading.getRxBytes(), seconds);
        rdmaTx.next(read && reading.hasTxBytes(), reading.getTxBytes(), seconds);
        if (read) {
            rdmaState = reading.getState();
            rdmaWasUp |= rdmaState == RDMA_ACTIVE;
        }
    }

    /** The readings of the sample are in. {@code listed}: the source answered, so what is not in the list is gone. */
    void end(Now now, boolean nicsListed, boolean rdmaListed) {
        boolean nicKnown = seenNic || nicsListed;
        boolean rdmaKnown = seenRdma || rdmaListed;
        nicTrouble = nicKnown ? nicTrouble() : nicTrouble;
        rdmaTrouble = rdmaKnown ? rdmaTrouble() : rdmaTrouble;
        Trouble next = nicTrouble == Trouble.NONE ? rdmaTrouble : nicTrouble;
        if (next == Trouble.NONE) {
            if (trouble != Trouble.NONE) {
                upSinceNodeMs = now.nodeMs();
            }
        } else {
            lastTrouble = next;
            if (trouble == Trouble.NONE) {
                sinceNodeMs = now.nodeMs();
                seenBadNodeMs = now.nodeMs();
            }
            if (nicTrouble == Trouble.NONE ? rdmaKnown : nicKnown) {
                seenBadNodeMs = now.nodeMs();
            }
        }
        trouble = next;
    }

    private Trouble nicTrouble() {
        if (nicWasUp && !seenNic) {
            // Virtual devices come and go with their containers; a card does not.
            return id.startsWith("virtual/") ? Trouble.NONE : Trouble.VANISHED;
        }
        if (!nicWasUp) {
            return Trouble.NONE;
        }
        return switch (state) {
            case OPER_STATE_DOWN, OPER_STATE_NOT_PRESENT -> adminUp ? Trouble.DOWN : Trouble.ADMIN_DOWN;
            case OPER_STATE_LOWER_LAYER_DOWN -> Trouble.PEER_END;
            default -> Trouble.NONE;
        };
    }

    private Trouble rdmaTrouble() {
        if (!rdmaWasUp || (seenRdma && rdmaState >= RDMA_ACTIVE)) {
            return Trouble.NONE;
        }
        return seenRdma ? Trouble.RDMA_NOT_ACTIVE : Trouble.VANISHED;
    }

    /** For how long it was seen in trouble. It does not grow while it is up again, nor while nobody reads the port. */
    private long badMs() {
        return seenBadNodeMs - sinceNodeMs;
    }

    /** Largest of what it moved in one direction over the last interval, bytes a second; NaN where unknown. */
    double netRate() {
        return bytes(rx, tx);
    }

    double rdmaRate() {
        return bytes(rdmaRx, rdmaTx);
    }

    private static double bytes(Counter in, Counter out) {
        return Math.max(in.rate(), out.rate()); // NaN when either is
    }

    boolean down() {
        return trouble != Trouble.NONE && !bridge;
    }

    boolean wasUp() {
        return nicWasUp || rdmaWasUp;
    }

    void restoreWasUp() {
        nicWasUp = true;
    }

    /** Counters are compared anew. */
    void forgetCounters() {
        rx.forget();
        tx.forget();
        rdmaRx.forget();
        rdmaTx.forget();
    }

    String state() {
        return hasNic
                ? state.name()
                        .substring("OPER_STATE_".length())
                        .toLowerCase(Locale.ROOT)
                        .replace("_", "")
                : "?";
    }

    boolean mayBeSaid() {
        return trouble != Trouble.NONE || stands;
    }

    Verdict judge(String node, Now now) {
        String subject = "nic:" + node + "/" + id;
        if (!down()) {
            boolean flapped = stands && now.nodeMs() - upSinceNodeMs < WELL_MS;
            if (!flapped) {
                stands = false;
                return Verdict.well(IncidentKind.NIC_FAULT, subject, name + " is up");
            }
        }
        stands = true;
        long age = badMs();
        boolean certain = lastTrouble != Trouble.PEER_END;
        return new Verdict(
                IncidentKind.NIC_FAULT,
                subject,
                age >= CONFIRM_MS ? Standing.CONFIRMED : Standing.SUSPECTED,
                lastTrouble == Trouble.DOWN || lastTrouble == Trouble.VANISHED ? Severity.CRITICAL : Severity.WARNING,
                age,
                trouble.name(),
                List.of(Suspect.newBuilder()
                        .setNode(node)
                        .setScore(certain ? 6 : 3)
                        .setConfidence(certain ? "high" : "low")
                        .build()),
                evidence(node),
                Map.of("down_seconds", age / 1000.0));
    }

    private List<String> evidence(String node) {
        List<String> evidence = new ArrayList<>();
        switch (trouble) {
            case DOWN -> evidence.add(name + " (" + id + ") of " + node + " was up and its operstate is " + state());
            case ADMIN_DOWN -> {
                evidence.add(name + " (" + id + ") of " + node + " was up and its operstate is " + state());
                evidence.add("it was taken down on purpose: its flag IFF_UP is cleared");
            }
            case PEER_END ->
                evidence.add(name + " (" + id + ") of " + node
                        + " is lowerlayerdown: it has no link because the other end is down, or its own lower device");
            case RDMA_NOT_ACTIVE ->
                evidence.add("RDMA port " + id + " of " + node + " was ACTIVE and is in state " + rdmaState
                        + " (4 is ACTIVE)");
            case VANISHED -> evidence.add(name + " (" + id + ") of " + node + " was up and is not there any more");
            case NONE -> evidence.add(name + " (" + id + ") of " + node + " is up again, for less than 2 s");
        }
        if (carrierChanges > 0) {
            evidence.add("its carrier changed " + carrierChanges + " times since boot");
        }
        return evidence;
    }

    /** @param inventory null: none was heard of it */
    NicReport report(Now now, @Nullable NicInventory inventory) {
        NicReport.Builder report =
                NicReport.newBuilder().setId(id).setName(name).setState(state).setWasUp(wasUp());
        double in = sum(rx.rate(), rdmaRx.rate());
        double out = sum(tx.rate(), rdmaTx.rate());
        if (!Double.isNaN(in)) {
            report.setRxBps((long) in);
        }
        if (!Double.isNaN(out)) {
            report.setTxBps((long) out);
        }
        if (down()) {
            report.setDownMs((int) badMs());
        }
        if (inventory != null) {
            report.addAllAddresses(inventory.getAddressesList()).setDefaultRoute(inventory.getDefaultRoute());
        }
        return report.build();
    }

    private static double sum(double a, double b) {
        return Double.isNaN(a) ? b : Double.isNaN(b) ? a : a + b;
    }
}
