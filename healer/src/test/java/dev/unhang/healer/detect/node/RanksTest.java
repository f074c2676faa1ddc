package dev.unhang.healer.detect.node;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ActivityClass;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.Learned;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.RankReading;
import dev.unhang.events.v1.RankReport;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.SourceFault;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class RanksTest {

    private static final List<String> A = List.of("a");
    private static final ByteString UUID = ByteString.copyFrom(new byte[16]);
    private static final long GB = 1_000_000_000L;

    private final Partition partition = new Partition();
    private long energyMj;
    private long bytes;
    private final int memUtil = 20;
    private boolean trafficRead = true;
    private int pid = 4000;
    private char state = 'R';
    private boolean process = true;

    /** A sample of one rank with one GPU and one NIC, without heartbeats. */
    private Consumer<NodeSample.Builder> rank(int util, int watts, long bytesPerSecond) {
        return sample -> {
            energyMj += watts * 1000L;
            bytes += bytesPerSecond;
            sample.addGpus(GpuReading.newBuilder()
                    .setUuid(UUID)
                    .setUtil(util)
                    .setMemUtil(watts < 130 ? 0 : memUtil)
                    .setEnergyMj(energyMj)
                    .setSmMhz(1980));
            var nic = Partition.nic(OperState.OPER_STATE_UP);
            if (trafficRead) {
                nic.setRxBytes(bytes).setTxBytes(bytes);
            }
            sample.addNics(nic);
            if (process) {
                sample.addJobs(JobIdentity.newBuilder().setSlurm("7.0"));
                sample.addRanks(RankReading.newBuilder()
                        .setPid(pid)
                        .setStartTicks(9)
                        .setRank(2)
                        .setState(state)
                        .addGpus(0));
            }
        };
    }

    private RankReport last() {
        List<NodeReport> reports = partition.reports();
        return reports.get(reports.size() - 1).getRanks(0);
    }

    private void train(int seconds) {
        partition.seconds(seconds, A, rank(98, 400, GB));
    }

    @Test
    void aRankAtTrainingWorks() {
        train(20);

        assertThat(last().getActivity()).isEqualTo(ActivityClass.ACTIVITY_CLASS_WORK);
        assertThat(last().getArmed()).isTrue();
    }

    @Test
    void fullUtilisationAtIdlePowerWithoutTrafficIsWaiting() {
        train(20);
        partition.seconds(4, A, rank(100, 121, 0));

        assertThat(last().getActivity()).isEqualTo(ActivityClass.ACTIVITY_CLASS_SPIN);
        assertThat(last().getStillMs()).isBetween(2000, 4000);
    }

    @Test
    void aRankUnderAPowerCapWorksAsLongAsItMovesDataOverTheNetworkOrInItsMemory() {
        train(20);
        partition.seconds(60, A, rank(98, 200, 700_000_000L));
        assertThat(last().getActivity()).isEqualTo(ActivityClass.ACTIVITY_CLASS_WORK);

        partition.seconds(60, A, rank(98, 200, 0));
        assertThat(last().getActivity()).as("memory still works").isEqualTo(ActivityClass.ACTIVITY_CLASS_WORK);

        partition.seconds(4, A, rank(98, 100, 0));
        assertThat(last().getActivity()).isEqualTo(ActivityClass.ACTIVITY_CLASS_SPIN);
    }

    @Test
    void noUtilisationIsIdle() {
        train(20);
        partition.seconds(4, A, rank(0, 120, 0));

        assertThat(last().getActivity()).isEqualTo(ActivityClass.ACTIVITY_CLASS_IDLE);
    }

    @Test
    void computationWithoutTrafficIsWork() {
        train(20);
        partition.seconds(12, A, rank(96, 650, 0));

        assertThat(last().getActivity()).isEqualTo(ActivityClass.ACTIVITY_CLASS_WORK);
    }

    @Test
    void aRankThatIsListedNoMoreIsGoneThoughTheEnvironmentOfSomeProcessesMayNotBeRead() {
        train(20);
        process = false;
        partition.seconds(5, A, rank(0, 120, 0).andThen(unread(ReadStatus.READ_STATUS_NO_PERMISSION)));

        assertThat(last().getActivity()).isEqualTo(ActivityClass.ACTIVITY_CLASS_GONE);
    }

    @Test
    void aRankThatIsNotListedSinceTheProcessesWereNotReadIsNotGone() {
        train(20);
        process = false;
        partition.seconds(5, A, rank(0, 120, 0).andThen(unread(ReadStatus.READ_STATUS_PENDING)));

        assertThat(last().getActivity()).isNotEqualTo(ActivityClass.ACTIVITY_CLASS_GONE);
    }

    private static Consumer<NodeSample.Builder> unread(ReadStatus status) {
        return sample ->
                sample.addSources(SourceFault.newBuilder().setSource("process").setStatus(status));
    }

    @Test
    void aStandstillNeverBecomesTheLevelOfTraining() {
        train(20);
        partition.seconds(600, A, rank(100, 121, 0));

        assertThat(last().getActivity()).isEqualTo(ActivityClass.ACTIVITY_CLASS_SPIN);
    }

    @Test
    void countersThatAreNotReadAreUnknownAndNeverQuiet() {
        train(20);
        trafficRead = false;
        partition.seconds(12, A, rank(98, 400, 0));

        assertThat(last().getActivity()).isEqualTo(ActivityClass.ACTIVITY_CLASS_WORK);
        assertThat(last().hasTrafficSharePm()).isFalse();
    }

    @Test
    void aCounterThatDecreasedWasResetAndGivesNoRate() {
        train(20);
        bytes = 0;
        energyMj = 0;
        partition.seconds(1, A, rank(98, 400, GB));
        NodeReport now = partition.detector.standing().stream()
                .filter(NodeReport.class::isInstance)
                .map(NodeReport.class::cast)
                .findFirst()
                .orElseThrow();

        assertThat(now.getNics(0).hasRxBps()).isFalse();
    }

    @Test
    void aStoppedProcessMakesItsNodeReportEachSecond() {
        train(20);
        int before = partition.reports().size();
        state = 'T';
        partition.seconds(6, A, rank(98, 400, GB));

        assertThat(partition.reports().size() - before).isBetween(4, 5);
        assertThat(last().getState()).isEqualTo('T');
        assertThat(last().getEvidenceList()).containsExactly("rank 2 (pid 4000) is in process state T for 5 s");
    }

    @Test
    void aNodeAtPeaceReportsEachTenSeconds() {
        train(30);
        int before = partition.reports().size();
        train(100);

        assertThat(partition.reports().size() - before).isEqualTo(10);
        assertThat(partition.reports()).allMatch(NodeReport::getWell);
    }

    @Test
    void aProcessIsGoneAfterTwoSamplesWithoutIt() {
        train(20);
        process = false;
        partition.seconds(1, A, rank(0, 80, 0));
        assertThat(last().getActivity()).isEqualTo(ActivityClass.ACTIVITY_CLASS_WORK);
        partition.seconds(4, A, rank(0, 80, 0));

        assertThat(last().getActivity()).isEqualTo(ActivityClass.ACTIVITY_CLASS_GONE);
        assertThat(last().getEvidence(0)).startsWith("process 4000 of rank 2 is gone");
    }

    @Test
    void whatWasLearnedHoldsForTheNextOwnerAndTheSameProcessOnly() {
        train(90);
        Learned learned = partition.detector.learnedIfDue().orElseThrow();
        assertThat(partition.detector.learnedIfDue()).isEmpty();
        assertThat(learned.getSerializedSize()).isLessThan(2_000);

        assertThat(afterTakeOver(learned, 4000)).isEqualTo(ActivityClass.ACTIVITY_CLASS_SPIN);
        assertThat(afterTakeOver(learned, 4001)).isEqualTo(ActivityClass.ACTIVITY_CLASS_UNKNOWN);
    }

    private ActivityClass afterTakeOver(Learned learned, int withPid) {
        pid = withPid;
        Partition next = new Partition(2);
        next.feed("", learned);
        next.seconds(5, A, rank(100, 121, 0));
        return next.detector.standing().stream()
                .filter(NodeReport.class::isInstance)
                .map(message -> ((NodeReport) message).getRanks(0).getActivity())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aJobThatOptedOutIsNotReported() {
        partition.seconds(12, A, sample -> {
            sample.addJobs(JobIdentity.newBuilder().setSlurm("7.0").setMode("off"));
            sample.addRanks(RankReading.newBuilder().setPid(5));
        });

        assertThat(partition.reports()).allMatch(report -> report.getRanksCount() == 0);
    }

    @Test
    void anIndexThatPointsNowhereHarmsNothing() {
        partition.seconds(
                12,
                A,
                sample -> sample.addRanks(
                        RankReading.newBuilder().setPid(5).setJob(7).addGpus(9).addGpus(3)));

        assertThat(last().getPid()).isEqualTo(5);
    }
}
