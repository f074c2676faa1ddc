package dev.unhang.collector.source.process;

import dev.unhang.collector.source.file.SmallFile;
import dev.unhang.collector.source.heartbeat.Beat;
import dev.unhang.events.v1.FieldFault;
import dev.unhang.events.v1.RankReading;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the state of one rank's process. Its threads are looked at when its main thread is in D, and else each fifth
 * second, for a training process has hundreds. Confined to its worker thread.
 */
final class RankReader {

    private static final long THREADS_EACH_NS = 5_000_000_000L;

    private record Threads(long atNs, int inD) {}

    private final Proc proc;
    private final Map<Integer, Threads> threads = new HashMap<>();

    RankReader(Proc proc) {
        this.proc = proc;
    }

    RankReading.Builder read(ProcStat stat, long nowNs) {
        RankReading.Builder reading = RankReading.newBuilder()
                .setPid(stat.pid())
                .setStartTicks(stat.startTicks())
                .setState(stat.state())
                .setCpuTicks(stat.cpuTicks());
        if (!stat.ended()) {
            io(stat.pid(), reading);
            line(proc.file(stat.pid(), "status").or(""), "TracerPid:")
                    .ifPresent(tracer -> reading.setTracerPid((int) tracer));
        }
        reading.setThreadsD(inD(stat, nowNs));
        if (stat.state() == 'D') {
            String wchan = proc.file(stat.pid(), "wchan").or("");
            reading.setWchan(wchan.equals("0") ? "" : wchan);
        }
        return reading;
    }

    static void join(RankReading.Builder reading, Beat beat, long nowNs) {
        reading.setPhase(beat.phase())
                .setProgressAgeMs(ageMs(beat.progressNs(), nowNs))
                .setHeartbeatAgeMs(ageMs(beat.receivedNs(), nowNs));
        Long step = beat.step();
        if (step != null) {
            reading.setStep(step);
        }
    }

    void forgetAllBut(Set<Integer> pids) {
        threads.keySet().retainAll(pids);
    }

    private void io(int pid, RankReading.Builder reading) {
        SmallFile io = proc.file(pid, "io");
        if (io.ok()) {
            line(io.or(""), "wchar:").ifPresent(bytes -> reading.setIoWriteKib(bytes >>> 10));
            line(io.or(""), "rchar:").ifPresent(bytes -> reading.setIoReadKib(bytes >>> 10));
        } else {
            reading.addFaults(FieldFault.newBuilder()
                    .setField("io")
                    .setStatus(io.status())
                    .setCode(io.code()));
        }
    }

    private int inD(ProcStat stat, long nowNs) {
        @Nullable Threads before = threads.get(stat.pid());
        if (stat.state() != 'D' && stat.state() != 'Z' && before != null && nowNs - before.atNs() < THREADS_EACH_NS) {
            return before.inD();
        }
        int inD = 0;
        for (String thread : proc.threads(stat.pid())) {
            String text = proc.file(stat.pid(), "task/" + thread + "/stat").text();
            ProcStat each = text == null ? null : ProcStat.parse(text);
            if (each != null && each.state() == 'D') {
                inD++;
            }
        }
        threads.put(stat.pid(), new Threads(nowNs, inD));
        return inD;
    }

    /** The number after a label at the beginning of a line. */
    static OptionalLong line(String text, String label) {
        int at = text.startsWith(label) ? 0 : text.indexOf("\n" + label) + 1;
        if (at == 0 && !text.startsWith(label)) {
            return OptionalLong.empty();
        }
        int end = text.indexOf('\n', at);
        return SmallFile.unsigned(text.substring(at + label.length(), end < 0 ? text.length() : end)
                .strip());
    }

    private static int ageMs(long sinceNs, long nowNs) {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(0, (nowNs - sinceNs) / 1_000_000));
    }
}
