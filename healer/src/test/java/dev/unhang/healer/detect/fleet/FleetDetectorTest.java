package dev.unhang.healer.detect.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.Pulse;
import dev.unhang.events.v1.RankReading;
import dev.unhang.events.v1.Standing;
import dev.unhang.healer.detect.LogTime;
import dev.unhang.healer.detect.node.PartitionDetector;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A job of four nodes, one rank each, from samples through both detectors. */
class FleetDetectorTest {

    private static final int NODES = 4;
    private static final long START_MS = 1_000_000_000_000L;

    private PartitionDetector nodes = new PartitionDetector(origin(1));
    private FleetDetector fleet = new FleetDetector();
    private LogTime inboxTime = new LogTime();
    private final List<Finding> findings = new ArrayList<>();

    /** Time on the nodes and at the broker, ms. */
    private long nowMs;

    /** When the job stopped to make progress; -1: it runs. */
    private long stoppedAtMs = -1;

    private int stoppedRank = -1;
    private int start = 9;
    private long seq;
    private final long[] energy = new long[NODES];
    private JobIdentity.Builder identity =
            JobIdentity.newBuilder().setHeartbeat("llm").setSlurm("4.0");

    private static Origin origin(long generation) {
        return Origin.newBuilder()
                .setGeneration(generation)
                .setOwner("h" + generation)
                .build();
    }

    private NodeSample sample(int node, long atMs, long queuedMs) {
        boolean still = stoppedAtMs >= 0 && atMs >= stoppedAtMs;
        boolean culprit = still && node == stoppedRank;
        energy[node] += still ? 120_000 : 500_000;
        return NodeSample.newBuilder()
                .setBootId(ByteString.copyFrom("boot", StandardCharsets.UTF_8))
                .setCollectorStart(5)
                .setSeq(seq)
                .setMonoNs(atMs * 1_000_000)
                .setQueuedMs((int) queuedMs)
                .addGpus(GpuReading.newBuilder()
                        .setUuid(ByteString.copyFrom(new byte[] {(byte) node}))
                        .setUtil(culprit ? 0 : 100)
                        .setSmMhz(1980)
                        .setEnergyMj(energy[node]))
                .addJobs(identity.setWorld(NODES))
                .addRanks(RankReading.newBuilder()
                        .setPid(100 + node)
                        .setStartTicks(start)
                        .setRank(node)
                        .setState(culprit ? 'T' : 'R')
                        .addGpus(0)
                        .setPhase(Phase.PHASE_TRAIN)
                        .setStep(still ? stoppedAtMs / 500 : atMs / 500)
                        .setProgressAgeMs(still ? (int) (atMs - stoppedAtMs) : 200))
                .build();
    }

    private void inbox(List<Message> messages) {
        for (Message message : messages) {
            findings.addAll(fleet.onRecord(message, inboxTime.advance(START_MS + nowMs), START_MS + nowMs));
        }
    }

    private void pulse() {
        Pulse pulse = Pulse.getDefaultInstance();
        inbox(nodes.onRecord("", pulse, START_MS + nowMs));
        inbox(List.of(pulse));
    }

    private void second() {
        nowMs += 1000;
        seq++;
        for (int node = 0; node < NODES; node++) {
            inbox(nodes.onRecord("n" + node, sample(node, nowMs, 0), START_MS + nowMs));
        }
        pulse();
    }

    private void seconds(int count) {
        for (int i = 0; i < count; i++) {
            second();
        }
    }

    private List<Finding> said(Standing standing) {
        return findings.stream()
                .filter(finding -> finding.getStanding() == standing)
                .toList();
    }

    @Test
    void aStoppedRankIsSuspectedConfirmedAndNamed() {
        seconds(60);
        stop(2);
        seconds(6);
        assertThat(said(Standing.SUSPECTED)).singleElement().satisfies(finding -> {
            assertThat(finding.getKind()).isEqualTo(IncidentKind.JOB_HANG);
            assertThat(finding.getSubject()).isEqualTo("job:llm@0");
            assertThat(finding.getSuspects(0).getNode()).isEqualTo("n2");
            assertThat(finding.getSuspects(0).getRank()).isEqualTo(2);
        });
        seconds(17);
        assertThat(said(Standing.CONFIRMED)).hasSize(1);
    }

    private void stop(int rank) {
        stoppedAtMs = nowMs + 500;
        stoppedRank = rank;
    }

    @Test
    void aJobThatGoesOnIsWellAgain() {
        seconds(60);
        stop(2);
        seconds(10);
        stoppedAtMs = -1;
        seconds(4);

        assertThat(said(Standing.WELL)).hasSize(1);
        assertThat(fleet.standing()).isEmpty();
    }

    @Test
    void aRankThatWasStoppedWhileTheBrokerWasAwayIsSuspectedWithinFiveSecondsAfter() {
        seconds(60);
        stoppedAtMs = nowMs + 20_000;
        stoppedRank = 1;
        List<Long> taken = new ArrayList<>();
        for (int i = 1; i <= 60; i++) {
            taken.add(nowMs + 1000L * i);
        }
        nowMs += 60_000;
        for (long at : taken) {
            seq++;
            for (int node = 0; node < NODES; node++) {
                inbox(nodes.onRecord("n" + node, sample(node, at, nowMs - at), START_MS + nowMs));
            }
        }
        pulse();
        seconds(4);

        assertThat(said(Standing.SUSPECTED))
                .singleElement()
                .satisfies(
                        finding -> assertThat(finding.getSuspects(0).getNode()).isEqualTo("n1"));
    }

    @Test
    void aJobAtPeaceThroughAnOutageIsNoFinding() {
        seconds(60);
        nowMs += 60_000;
        pulse();
        seconds(60);

        assertThat(findings).isEmpty();
    }

    @Test
    void aStandstillIsFoundAgainByANewOwnerAndANewDecider() {
        seconds(70);
        Message learned = nodes.learnedIfDue().orElseThrow();
        stop(3);
        seconds(30);
        assertThat(said(Standing.CONFIRMED)).hasSize(1);

        nodes = new PartitionDetector(origin(2));
        fleet = new FleetDetector();
        inboxTime = new LogTime();
        findings.clear();
        nodes.onRecord("", learned, START_MS + nowMs);
        seconds(6);
        assertThat(said(Standing.SUSPECTED)).hasSize(1);
        assertThat(said(Standing.SUSPECTED).get(0).getAgeMs()).isGreaterThan(25_000);
    }

    @Test
    void aReplacedProcessBeginsANewEpochWhereNobodyCountsRestarts() {
        seconds(60);
        stop(2);
        seconds(10);
        start = 10;
        stoppedAtMs = -1;
        seconds(60);
        assertThat(said(Standing.WELL)).hasSize(1);
        stop(0);
        seconds(6);

        assertThat(said(Standing.SUSPECTED)).extracting(Finding::getSubject).containsExactly("job:llm@0", "job:llm@1");
    }

    @Test
    void aReportOfAnOlderOwnerIsIgnored() {
        seconds(60);
        PartitionDetector old = nodes;
        nodes = new PartitionDetector(origin(2));
        seconds(12);
        stop(2);
        seq++;
        nowMs += 4000;
        for (int i = 0; i < 4; i++) {
            seq++;
            inbox(old.onRecord("n2", sample(2, nowMs + i * 1000L, 0), START_MS + nowMs));
        }
        pulse();

        assertThat(findings).isEmpty();
    }

    @Test
    void ranksThatShareAStrongIdentityAreOfOneJob() {
        identity = JobIdentity.newBuilder().setMaster("10.0.0.1:29500");
        seconds(60);
        stop(2);
        seconds(6);

        assertThat(said(Standing.SUSPECTED)).extracting(Finding::getSubject).containsExactly("job:10.0.0.1:29500@0");
    }

    @Test
    void aLoopbackMasterJoinsNothingBeyondItsNode() {
        identity = JobIdentity.newBuilder().setMaster("127.0.0.1:29500");
        seconds(60);
        stop(2);
        seconds(6);

        assertThat(findings).allMatch(finding -> finding.getNodesCount() == 1);
    }
}
