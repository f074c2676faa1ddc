package dev.unhang.healer.detect.node;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ActivityClass;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.GpuReport;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.LearnedGpu;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Suspect;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One GPU: its power from the energy counter, its power when idle with a context, and whether it is broken. Power is
 * taken from energy because the instant value swings by a factor of three within training.
 */
final class GpuWatch {

    /** A bad status must last so long, ms of node time; an Xid needs no hold. */
    static final long CONFIRM_MS = 3_000;

    /** An Xid is over when the GPU has answered for so long without another, ms of node time. */
    static final long XID_HOLDS_MS = 600_000;

    static final String RECOVERY_FIELD = "recovery_action";

    private static final String[] RECOVERY = {
        "none", "a GPU reset", "a reboot", "draining its peers", "draining and a reset", "a repair by IMEX"
    };

    final ByteString uuid;
    final String name;

    /** Itself as a list: what a rank with one GPU uses. */
    final List<GpuWatch> alone = List.of(this);

    private final Counter energy = new Counter();
    private final Counter nvlinkTx = new Counter();
    private final Counter nvlinkRx = new Counter();

    private GpuReading last = GpuReading.getDefaultInstance();
    private double powerMw = Double.NaN;
    private double idleMw = Double.NaN;
    private int smMaxMhz;
    private boolean wasIdle;
    private boolean present;
    ActivityClass activity = ActivityClass.ACTIVITY_CLASS_UNKNOWN;

    private int xid;
    private boolean xidFatal;
    private int fatalXid;
    private long fatalXidNodeMs;
    private String xidText = "";
    private long xidNodeMs;

    private long badSinceNodeMs = -1;
    private boolean stands;

    GpuWatch(ByteString uuid) {
        this.uuid = uuid;
        this.name = Hex.gpu(uuid);
    }

    void absent() {
        present = false;
    }

    void onSample(GpuReading reading, double seconds, Now now) {
        present = true;
        last = reading;
        boolean ok = reading.getStatus() == ReadStatus.READ_STATUS_OK;
        energy.next(ok && reading.hasEnergyMj(), reading.getEnergyMj(), seconds);
        nvlinkTx.next(ok && reading.hasNvlinkTxKib(), reading.getNvlinkTxKib(), seconds);
        nvlinkRx.next(ok && reading.hasNvlinkRxKib(), reading.getNvlinkRxKib(), seconds);
        powerMw = energy.rate() > 0
                ? energy.rate()
                : ok && reading.hasPowerMw() && !Double.isNaN(seconds) ? reading.getPowerMw() : Double.NaN;
        if (ok) {
            learnIdle(reading);
        }
        boolean bad = trouble() != null;
        if (!bad) {
            badSinceNodeMs = -1;
        } else if (badSinceNodeMs < 0) {
            badSinceNodeMs = now.nodeMs();
        }
        if (xidFatal && ok && now.nodeMs() - xidNodeMs > XID_HOLDS_MS && !bad) {
            xidFatal = false;
        }
        activity = !ok || !reading.hasUtil()
                ? ActivityClass.ACTIVITY_CLASS_UNKNOWN
                : reading.getUtil() <= 10 ? ActivityClass.ACTIVITY_CLASS_IDLE : ActivityClass.ACTIVITY_CLASS_WORK;
    }

    /** The least power with clocks up and nothing running, rising slowly so that one odd value is forgotten. */
    private void learnIdle(GpuReading reading) {
        int sm = reading.getSmMhz();
        if (sm > 1.25 * smMaxMhz) {
            idleMw = Double.NaN;
            wasIdle = false;
        }
        smMaxMhz = Math.max(smMaxMhz, sm);
        boolean idle = !Double.isNaN(powerMw) && reading.hasUtil() && reading.getUtil() <= 5 && sm >= 0.8 * smMaxMhz;
        if (idle && wasIdle) {
            idleMw = Double.isNaN(idleMw) ? powerMw : Math.min(idleMw * 1.0005, powerMw);
        }
        wasIdle = idle;
    }

    void onXid(int code, String text, Now now) {
        xid = code;
        xidNodeMs = now.nodeMs();
        if (Xids.fatal(code)) {
            xidFatal = true;
            fatalXid = code;
            fatalXidNodeMs = now.nodeMs();
            xidText = Xids.sentence(code) + ": " + text;
        }
    }

    int xid() {
        return xid;
    }

    long xidAgeMs(Now now) {
        return now.nodeMs() - xidNodeMs;
    }

    boolean answers() {
        return present && last.getStatus() == ReadStatus.READ_STATUS_OK;
    }

    boolean hasUtil() {
        return answers() && last.hasUtil();
    }

    int util() {
        return last.getUtil();
    }

    double memUtil() {
        return answers() && last.hasMemUtil() ? last.getMemUtil() : Double.NaN;
    }

    /** mW over the last interval, NaN where unknown. */
    double powerMw() {
        return present ? powerMw : Double.NaN;
    }

    /** mW with a context and nothing running, NaN while it was never seen. */
    double idleMw() {
        return idleMw;
    }

    /** Bytes a second over all its NVLinks in the busier direction, NaN where unknown. */
    double nvlinkRate() {
        return present ? Math.max(nvlinkTx.rate(), nvlinkRx.rate()) * 1024 : Double.NaN;
    }

    void forgetCounters() {
        energy.forget();
        nvlinkTx.forget();
        nvlinkRx.forget();
        wasIdle = false;
    }

    boolean mayBeSaid() {
        return stands || xidFatal || badSinceNodeMs >= 0;
    }

    private @Nullable String trouble() {
        if (!present) {
            return null;
        }
        if (last.getStatus() == ReadStatus.READ_STATUS_GPU_IS_LOST) {
            return name + " is lost: the driver answers GPU_IS_LOST (NVML 15)";
        }
        if (last.getStatus() == ReadStatus.READ_STATUS_RESET_REQUIRED) {
            return name + " needs a reset: the driver answers RESET_REQUIRED (NVML 16)";
        }
        if (last.getRecoveryAction() > 0) {
            int action = last.getRecoveryAction();
            return name + " asks for " + (action < RECOVERY.length ? RECOVERY[action] : "recovery action " + action)
                    + " (NVML field 230)";
        }
        if (last.getRemapFailure() > 0) {
            return "row remapping failed on " + name + ": it has no spare rows left";
        }
        return null;
    }

    /** @param asksKnown the driver tells whether it asks for a recovery */
    Verdict judge(String node, boolean asksKnown, Now now) {
        String subject = "gpu:" + name;
        String trouble = trouble();
        if (trouble == null && !xidFatal) {
            stands = false;
            return Verdict.well(
                    IncidentKind.GPU_FAULT, subject, name + " of " + node + " answers and asks for nothing");
        }
        stands = true;
        List<String> evidence = new ArrayList<>(2);
        if (trouble != null) {
            evidence.add(trouble);
        }
        if (xidFatal) {
            evidence.add(xidText);
        }
        long age = Math.max(
                badSinceNodeMs < 0 ? 0 : now.nodeMs() - badSinceNodeMs, xidFatal ? now.nodeMs() - fatalXidNodeMs : 0);
        boolean confirmed = xidFatal || age >= CONFIRM_MS;
        return new Verdict(
                IncidentKind.GPU_FAULT,
                subject,
                confirmed ? Standing.CONFIRMED : Standing.SUSPECTED,
                Severity.CRITICAL,
                age,
                trouble + "/" + (xidFatal ? fatalXid : 0),
                List.of(Suspect.newBuilder()
                        .setNode(node)
                        .setGpu(name)
                        .setScore(6)
                        .setConfidence("high")
                        .build()),
                evidence,
                figures(asksKnown));
    }

    private Map<String, Double> figures(boolean asksKnown) {
        Map<String, Double> figures = new TreeMap<>();
        boolean read = answers()
                && last.getFaultsList().stream()
                        .noneMatch(fault -> fault.getField().equals(RECOVERY_FIELD));
        if (last.getRecoveryAction() > 0 || (asksKnown && read)) {
            figures.put(RECOVERY_FIELD, (double) last.getRecoveryAction());
        }
        if (xidFatal) {
            figures.put("xid", (double) fatalXid);
        }
        return figures;
    }

    /** Whether something about it deserves a sentence in the evidence against a rank that uses it; null: nothing. */
    @Nullable
    String hardEvidence(Now now) {
        String trouble = trouble();
        if (trouble != null) {
            return trouble;
        }
        return xid != 0 && xidAgeMs(now) < 120_000
                ? Xids.sentence(xid) + " on " + name + " " + xidAgeMs(now) / 1000 + " s ago"
                : null;
    }

    GpuReport report() {
        GpuReport.Builder report = GpuReport.newBuilder()
                .setUuid(uuid)
                .setActivity(present ? activity : ActivityClass.ACTIVITY_CLASS_GONE)
                .setStatusValue(present ? last.getStatusValue() : ReadStatus.READ_STATUS_ABSENT_VALUE);
        if (last.getPidsCount() > 0) {
            report.addAllPids(last.getPidsList());
        }
        if (hasUtil()) {
            report.setUtil(last.getUtil());
        }
        if (!Double.isNaN(powerMw())) {
            report.setPowerMw((int) powerMw);
        }
        if (last.hasTempC()) {
            report.setTempC(last.getTempC());
        }
        if (last.hasMemUsedMib()) {
            report.setMemUsedMib(last.getMemUsedMib());
        }
        return report.build();
    }

    LearnedGpu learned() {
        LearnedGpu.Builder learned = LearnedGpu.newBuilder().setUuid(uuid).setSmMaxMhz(smMaxMhz);
        if (!Double.isNaN(idleMw)) {
            learned.setIdlePowerMw((int) idleMw);
        }
        return learned.build();
    }

    void restore(LearnedGpu learned) {
        if (Double.isNaN(idleMw) && learned.hasIdlePowerMw() && learned.getSmMaxMhz() >= smMaxMhz) {
            idleMw = learned.getIdlePowerMw();
            smMaxMhz = learned.getSmMaxMhz();
        }
    }
}
