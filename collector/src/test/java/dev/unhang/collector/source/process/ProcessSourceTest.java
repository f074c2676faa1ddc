package dev.unhang.collector.source.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.collector.source.heartbeat.HeartbeatTable;
import dev.unhang.collector.source.heartbeat.TestBeats;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankReading;
import dev.unhang.events.v1.ReadStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessSourceTest {

    private static final long SECOND = 1_000_000_000L;

    private static final String[] RANK_0 = {
        "PATH=/bin", "RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0", "MASTER_ADDR=10.0.0.1", "MASTER_PORT=29500"
    };

    @TempDir
    Path dir;

    private FakeProc proc;
    private final AtomicLong now = new AtomicLong(100 * SECOND);
    private final HeartbeatTable heartbeats = new HeartbeatTable();
    private final Set<Integer> gpuPids = new HashSet<>();
    private ProcessSource source;

    @BeforeEach
    void anEmptyNode() {
        proc = new FakeProc(dir);
        proc.process(1, 0, "systemd");
        source = new ProcessSource(dir, heartbeats, () -> gpuPids, now::get);
    }

    @Test
    void aWorkerOfTorchrunIsARankAndItsAgentIsNot() throws IOException {
        proc.process(400, 1, "torchrun", "PATH=/bin");
        proc.process(500, 400, "python3", RANK_0);
        proc.process(
                501,
                400,
                "python3",
                "RANK=1",
                "WORLD_SIZE=2",
                "LOCAL_RANK=1",
                "MASTER_ADDR=10.0.0.1",
                "MASTER_PORT=29500");

        NodeSample part = source.read().part();

        assertThat(part.getRanks(0))
                .isEqualTo(RankReading.newBuilder()
                        .setPid(500)
                        .setStartTicks(5000)
                        .setRank(0)
                        .setState('S')
                        .setCpuTicks(100)
                        .setIoReadKib(4)
                        .setIoWriteKib(2)
                        .build());
        assertThat(part.getRanks(1).getRank()).isEqualTo(1);
        assertThat(part.getRanks(1).getLocalRank()).isEqualTo(1);
        assertThat(part.getJobsList())
                .containsExactly(JobIdentity.newBuilder()
                        .setMaster("10.0.0.1:29500")
                        .setWorld(2)
                        .build());
    }

    @Test
    void theShellAroundARankIsNoneAndTheProcessInItIs() throws IOException {
        proc.process(500, 1, "bash", RANK_0).process(510, 500, "python3", RANK_0);

        assertThat(pids()).containsExactly(510);
    }

    @Test
    void aShellThatOnlyInheritedTheVariablesIsNoRank() throws IOException {
        proc.process(500, 1, "bash", RANK_0);

        assertThat(pids()).isEmpty();
    }

    @Test
    void workersThatInheritTheRankOfTheirParentAreNoRanks() throws IOException {
        proc.process(500, 1, "python3", RANK_0)
                .process(510, 500, "python3", RANK_0)
                .process(511, 500, "pt_data_worker", RANK_0)
                .process(512, 510, "python3", RANK_0);

        assertThat(pids()).containsExactly(500);
    }

    @Test
    void theProcessThatHoldsTheGpuIsTheRank() throws IOException {
        proc.process(500, 1, "my-own-launcher", RANK_0).process(510, 500, "python3", RANK_0);
        assertThat(pids()).containsExactly(500);
        gpuPids.add(510);

        assertThat(pids()).containsExactly(510);
    }

    @Test
    void anAgentStartedBySlurmIsNoRankBesideItsWorkers() throws IOException {
        String[] slurm = {"SLURM_JOB_ID=77", "SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_NTASKS=2"};
        proc.process(400, 1, "python3", slurm)
                .process(500, 400, "python3", concat(slurm, RANK_0))
                .process(510, 500, "python3", concat(slurm, RANK_0));

        NodeSample part = source.read().part();

        assertThat(part.getRanksList()).extracting(RankReading::getPid).containsExactly(500);
        assertThat(part.getJobs(0).getSlurm()).isEqualTo("77.0");
        assertThat(part.getJobs(0).getWorld()).isEqualTo(2);
    }

    @Test
    void aPodWideRankOfAnAgentIsNotThatOfItsWorkers() throws IOException {
        // Kubeflow gives RANK (of the pod) to all of a pod; torchrun below it numbers the workers anew.
        proc.process(400, 1, "python3", "RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=job-master-0", "MASTER_PORT=23456");
        for (int i = 0; i < 4; i++) {
            proc.process(
                    500 + i,
                    400,
                    "python3",
                    "RANK=" + i,
                    "WORLD_SIZE=8",
                    "LOCAL_RANK=" + i,
                    "MASTER_ADDR=job-master-0",
                    "MASTER_PORT=23456");
        }

        assertThat(pids()).containsExactly(500, 501, 502, 503);
    }

    @Test
    void anIndexOfAnIndexedJobCountsOnlyWithAGpu() throws IOException {
        proc.process(500, 1, "python3", "JOB_COMPLETION_INDEX=3").process(501, 1, "sidecar", "JOB_COMPLETION_INDEX=3");
        assertThat(pids()).isEmpty();
        gpuPids.add(500);

        assertThat(source.read().part().getRanks(0).getRank()).isEqualTo(3);
    }

    @Test
    void anExecInTheSameProcessIsSeen() throws IOException {
        proc.process(500, 1, "launcher", "PATH=/bin");
        for (int i = 0; i < 20; i++) {
            assertThat(pids()).isEmpty();
            now.addAndGet(SECOND);
        }
        proc.process(500, 1, "python3", RANK_0);
        proc.stat(500, 1, "python3", 'R', 5000, 150_000_000_000L);
        now.addAndGet(ProcessTable.LOOK_AGAIN_NS);

        assertThat(pids()).containsExactly(500);
    }

    @Test
    void aPidThatIsGivenToAnotherProcessIsLookedAtAnew() throws IOException {
        proc.process(500, 1, "python3", RANK_0);
        assertThat(pids()).containsExactly(500);
        proc.end(500);
        proc.started(500, 1, "cron", 9_999_999, "PATH=/bin");

        assertThat(pids()).isEmpty();
    }

    @Test
    void aZombieIsStillTheRankThatItWas() throws IOException {
        proc.process(500, 1, "python3", RANK_0);
        source.read();
        proc.stat(500, 1, "python3", 'Z', 5000, 0);
        FakeProc.write(proc.path(500, "environ"), "");
        proc.thread(500, 555, 'D');

        RankReading rank = source.read().part().getRanks(0);

        assertThat((char) rank.getState()).isEqualTo('Z');
        assertThat(rank.getThreadsD()).isEqualTo(1);
        assertThat(rank.getFaultsList()).isEmpty();
    }

    @Test
    void aRankInDTellsWhereItWaits() throws IOException {
        proc.process(500, 1, "python3", RANK_0);
        proc.stat(500, 1, "python3", 'D', 5000, 140_000_000_500L);
        FakeProc.write(proc.path(500, "wchan"), "nfs_wait_bit_killable");

        RankReading rank = source.read().part().getRanks(0);

        assertThat(rank.getWchan()).isEqualTo("nfs_wait_bit_killable");
        assertThat(rank.getThreadsD()).isEqualTo(1);
    }

    @Test
    void threadsInDBesideARunningMainThreadAreSeenWithinFiveSeconds() throws IOException {
        proc.process(500, 1, "python3", RANK_0);
        assertThat(source.read().part().getRanks(0).getThreadsD()).isZero();
        proc.thread(500, 555, 'D');
        now.addAndGet(5 * SECOND - 1);
        assertThat(source.read().part().getRanks(0).getThreadsD()).isZero();
        now.addAndGet(1);

        assertThat(source.read().part().getRanks(0).getThreadsD()).isEqualTo(1);
    }

    @Test
    void whoDebugsARankIsTold() throws IOException {
        proc.process(500, 1, "python3", RANK_0);
        FakeProc.write(proc.path(500, "status"), "Name:\tpython3\nTracerPid:\t612\n");

        assertThat(source.read().part().getRanks(0).getTracerPid()).isEqualTo(612);
    }

    @Test
    void anIoThatCannotBeReadIsAFaultAndNotZero() throws IOException {
        proc.process(500, 1, "python3", RANK_0);
        Files.delete(proc.path(500, "io"));

        RankReading rank = source.read().part().getRanks(0);

        assertThat(rank.hasIoWriteKib()).isFalse();
        assertThat(rank.getFaults(0).getField()).isEqualTo("io");
        assertThat(rank.getFaults(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_ABSENT);
    }

    @Test
    void environmentsThatMayNotBeReadAreCounted() throws IOException {
        proc.process(500, 1, "python3", RANK_0);
        // Opening a directory fails for root too, as a forbidden file does for others.
        Files.delete(proc.path(500, "environ"));
        Files.createDirectory(proc.path(500, "environ"));

        NodeSample part = source.read().part();

        assertThat(part.getSources(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_NO_PERMISSION);
        assertThat(part.getSources(0).getDetail()).startsWith("the environment of 1 process may not be read");
    }

    @Test
    void aRankWhoseEnvironmentCanBeReadNoMoreIsARankStill() throws IOException {
        proc.process(500, 1, "python3", RANK_0);
        assertThat(source.read().part().getRanksList()).hasSize(1);
        Files.delete(proc.path(500, "environ"));
        Files.createDirectory(proc.path(500, "environ"));
        // Where the environment lies is not told without permission.
        proc.stat(500, 1, "python3", 'S', 5000, 0);
        now.addAndGet(SECOND);

        NodeSample part = source.read().part();

        assertThat(part.getRanksList()).hasSize(1);
        assertThat(part.getSourcesList()).isEmpty();
    }

    @Test
    void aHeartbeatIsJoinedToItsRank() throws IOException {
        proc.process(500, 1, "python3", RANK_0);
        TestBeats.send(
                heartbeats,
                "{'v':1,'job':'llama','rank':0,'world':2,'pid':500,'seq':1,'step':7,'phase':'TRAIN'}",
                now.get());
        now.addAndGet(2 * SECOND);
        TestBeats.send(
                heartbeats,
                "{'v':1,'job':'llama','rank':0,'world':2,'pid':500,'seq':2,'step':7,'phase':'TRAIN'}",
                now.get());
        now.addAndGet(SECOND / 2);

        NodeSample part = source.read().part();

        assertThat(part.getRanksList()).hasSize(1);
        RankReading rank = part.getRanks(0);
        assertThat(rank.getPhase()).isEqualTo(Phase.PHASE_TRAIN);
        assertThat(rank.getStep()).isEqualTo(7);
        assertThat(rank.getProgressAgeMs()).isEqualTo(2500);
        assertThat(rank.getHeartbeatAgeMs()).isEqualTo(500);
        assertThat(part.getJobs(0).getHeartbeat()).isEqualTo("llama");
        assertThat(part.getJobs(0).getMaster()).isEqualTo("10.0.0.1:29500");
    }

    @Test
    void ranksKnownByHeartbeatAloneAreRanksOfOneJob() throws IOException {
        proc.process(400, 1, "python3", "PATH=/bin");
        for (int i = 0; i < 2; i++) {
            proc.process(500 + i, 400, "python3", "PATH=/bin");
            TestBeats.send(
                    heartbeats,
                    "{'v':1,'rank':" + i + ",'world':2,'pid':" + (500 + i) + ",'seq':1,'step':1,'phase':'TRAIN'}",
                    now.get());
        }

        NodeSample part = source.read().part();

        assertThat(part.getRanksList()).extracting(RankReading::getRank).containsExactly(0, 1);
        assertThat(part.getJobsList())
                .containsExactly(JobIdentity.newBuilder()
                        .setLocal("parent:400/4000")
                        .setWorld(2)
                        .build());
    }

    @Test
    void spawnedProcessesUnderOneTaskOfSlurmHaveTheRanksOfTheirHeartbeats() throws IOException {
        String[] slurm = {"SLURM_JOB_ID=77", "SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_NTASKS=1"};
        proc.process(400, 1, "python3", slurm);
        for (int i = 0; i < 2; i++) {
            proc.process(500 + i, 400, "python3", slurm);
            TestBeats.send(
                    heartbeats,
                    "{'v':1,'rank':" + i + ",'world':2,'pid':" + (500 + i) + ",'seq':1,'step':1,'phase':'TRAIN'}",
                    now.get());
        }

        NodeSample part = source.read().part();

        assertThat(part.getRanksList()).extracting(RankReading::getPid).containsExactly(500, 501);
        assertThat(part.getRanksList()).extracting(RankReading::getRank).containsExactly(0, 1);
        assertThat(part.getJobsList()).hasSize(1);
        assertThat(part.getJobs(0).getSlurm()).isEqualTo("77.0");
        assertThat(part.getJobs(0).getWorld()).isEqualTo(2);
    }

    @Test
    void aHeartbeatFromAContainerFindsItsProcess() throws IOException {
        proc.process(500, 1, "python3", "PATH=/bin");
        FakeProc.link(proc.path(500, "ns/pid"), "pid:[4026539999]");
        FakeProc.write(proc.path(500, "status"), "Name:\tpython3\nTracerPid:\t0\nNSpid:\t500\t12\n");
        proc.process(12, 1, "cron", "PATH=/bin");
        TestBeats.send(
                heartbeats,
                "{'v':1,'rank':0,'world':1,'pid':12,'ns':4026539999,'seq':1,'step':1,'phase':'TRAIN'}",
                now.get());

        assertThat(pids()).containsExactly(500);
    }

    @Test
    void theHeartbeatOfAProcessThatHasEndedIsForgotten() throws IOException {
        proc.process(500, 1, "python3", "PATH=/bin");
        TestBeats.send(heartbeats, "{'v':1,'rank':0,'world':1,'pid':500,'seq':1,'step':1,'phase':'TRAIN'}", now.get());
        assertThat(pids()).containsExactly(500);
        proc.end(500);

        assertThat(pids()).isEmpty();
        assertThat(heartbeats.beats()).isEmpty();
    }

    @Test
    void nothingButTheNamedVariablesOfARealProcessLeavesTheNode() throws Exception {
        ProcessBuilder builder = new ProcessBuilder("python3", "-c", "import sys; sys.stdin.read()");
        builder.environment().put("RANK", "41");
        builder.environment().put("WORLD_SIZE", "97");
        builder.environment().put("MASTER_ADDR", "192.0.2.7");
        builder.environment().put("MASTER_PORT", "29511");
        builder.environment().put("AWS_SECRET_ACCESS_KEY", "planted-secret-1");
        builder.environment().put("RANK_SECRET", "planted-secret-2");
        builder.environment().put("MULTI", "x\nUNHANG=planted-secret-3\nRANK=3");
        builder.environment().put("UNHANG", "planted-secret-4");
        Process child = builder.start();
        try {
            ProcessSource real = new ProcessSource(Path.of("/proc"), heartbeats, Set::of, now::get);

            NodeSample part = real.read().part();
            for (int i = 0; i < 20_000 && ofChild(part, child.pid()) == null; i++) {
                now.addAndGet(ProcessTable.LOOK_AGAIN_NS); // until the child has run exec, also on a busy machine
                part = real.read().part();
            }

            RankReading rank = ofChild(part, child.pid());
            assertThat(rank).isNotNull();
            assertThat(java.util.Objects.requireNonNull(rank).getRank()).isEqualTo(41);
            assertThat(part.getJobs(rank.getJob()))
                    .isEqualTo(JobIdentity.newBuilder()
                            .setMaster("192.0.2.7:29511")
                            .setWorld(97)
                            .build());
            assertThat(part.toString()).doesNotContain("planted-secret");
            assertThat(rank.hasCpuTicks()).isTrue();
            assertThat(rank.hasIoReadKib()).isTrue();
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    private static @org.jspecify.annotations.Nullable RankReading ofChild(NodeSample part, long pid) {
        return part.getRanksList().stream()
                .filter(rank -> rank.getPid() == pid)
                .findFirst()
                .orElse(null);
    }

    private Iterable<Integer> pids() throws IOException {
        return source.read().part().getRanksList().stream()
                .map(RankReading::getPid)
                .toList();
    }

    private static String[] concat(String[] a, String[] b) {
        return java.util.stream.Stream.concat(java.util.Arrays.stream(a), java.util.Arrays.stream(b))
                .toArray(String[]::new);
    }
}
