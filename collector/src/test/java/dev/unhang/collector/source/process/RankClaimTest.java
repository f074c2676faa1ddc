package dev.unhang.collector.source.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.collector.source.process.RankClaim.Family;
import dev.unhang.events.v1.JobIdentity;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RankClaimTest {

    @Test
    void aWorkerOfTorchrunHasItsRunIdMasterAndRestartCount() {
        RankClaim claim =
                claim("RANK=5 WORLD_SIZE=16 LOCAL_RANK=1 MASTER_ADDR=node-1 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=run7"
                        + " TORCHELASTIC_RESTART_COUNT=2");

        assertThat(claim)
                .isEqualTo(new RankClaim(
                        Family.TORCH,
                        5,
                        1,
                        JobIdentity.newBuilder()
                                .setTorchelastic("run7")
                                .setMaster("node-1:29500")
                                .setWorld(16)
                                .setEpoch(2)
                                .setEpochKnown(true)
                                .build()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.1.2.3", "localhost", "::1", "0.0.0.0"})
    void aLoopbackMasterAndARunIdOfNoneAreNoIdentityBeyondTheNode(String address) {
        JobIdentity job = claim("RANK=0 WORLD_SIZE=2 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=none MASTER_ADDR=" + address)
                .job();

        assertThat(job)
                .isEqualTo(JobIdentity.newBuilder()
                        .setLocal("loopback:29500@net1")
                        .setWorld(2)
                        .build());
    }

    @Test
    void withoutAnyIdentityTheSessionTiesTheRanksOfANodeTogether() {
        assertThat(claim("PMI_RANK=1 PMI_SIZE=4").job())
                .isEqualTo(JobIdentity.newBuilder()
                        .setLocal("session:77")
                        .setWorld(4)
                        .build());
    }

    @Test
    void aRankOfSlurmNeedsItsJob() {
        RankClaim claim =
                claim("SLURM_PROCID=3 SLURM_JOB_ID=12 SLURM_STEP_ID=0 SLURM_NTASKS=64 SLURM_STEP_NUM_TASKS=8");

        assertThat(claim.family()).isEqualTo(Family.SLURM);
        assertThat(claim.rank()).isEqualTo(3);
        assertThat(claim.job())
                .isEqualTo(JobIdentity.newBuilder()
                        .setSlurm("12.0")
                        .setWorld(8)
                        .setEpochKnown(true)
                        .build());
        assertThat(maybe("SLURM_PROCID=3")).isNull();
    }

    @Test
    void theEpochGrowsWhenSlurmRequeuesAndTorchelasticCountsAnew() {
        String before = "RANK=0 WORLD_SIZE=1 SLURM_JOB_ID=12 TORCHELASTIC_RESTART_COUNT=3";
        String after = "RANK=0 WORLD_SIZE=1 SLURM_JOB_ID=12 TORCHELASTIC_RESTART_COUNT=0 SLURM_RESTART_COUNT=1";

        assertThat(claim(after).job().getEpoch())
                .isGreaterThan(claim(before).job().getEpoch());
    }

    @ParameterizedTest
    @CsvSource({
        "RANK=1 WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=7 OMPI_COMM_WORLD_SIZE=8, TORCH, 1",
        "OMPI_COMM_WORLD_RANK=7 OMPI_COMM_WORLD_SIZE=8 SLURM_PROCID=0 SLURM_JOB_ID=1, OPEN_MPI, 7",
        "SLURM_PROCID=2 SLURM_JOB_ID=1 PMIX_RANK=2, SLURM, 2",
        "PMIX_RANK=4, PMI, 4",
        "JOB_COMPLETION_INDEX=6, INDEXED_JOB, 6"
    })
    void theInnermostLauncherIsBelieved(String environ, Family family, int rank) {
        assertThat(claim(environ).family()).isEqualTo(family);
        assertThat(claim(environ).rank()).isEqualTo(rank);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RANK=0",
                "WORLD_SIZE=2",
                "RANK=2 WORLD_SIZE=2",
                "RANK=-1 WORLD_SIZE=2",
                "RANK=a WORLD_SIZE=2",
                "RANK= WORLD_SIZE=2",
                "RANK=0 WORLD_SIZE=99999999999",
                "PATH=/bin"
            })
    void whatIsNoRankOfAWorldIsNone(String environ) {
        assertThat(maybe(environ)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"observe, observe", "off, off", "enforce, ''", "OFF, ''"})
    void aJobMayOnlyOptDown(String said, String mode) {
        assertThat(claim("RANK=0 WORLD_SIZE=1 MASTER_ADDR=a MASTER_PORT=1 UNHANG=" + said)
                        .job()
                        .getMode())
                .isEqualTo(mode);
    }

    @ParameterizedTest
    @CsvSource({
        "0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0, 12.0, ''",
        "4:memory:/slurm/uid_1000/job_12/step_batch, 12.batch, ''",
        "1:name=systemd:/slurm/uid_1000/job_12, 12, ''",
        "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0f3a8d2e_1111_2222_3333_444455556666.slice/cri-containerd-ab.scope, '', 0f3a8d2e-1111-2222-3333-444455556666",
        "11:memory:/kubepods/besteffort/pod0f3a8d2e-1111-2222-3333-444455556666/ab12, '', 0f3a8d2e-1111-2222-3333-444455556666",
        "0::/user.slice, '', ''"
    })
    void theCgroupTellsTheJob(String cgroup, String slurm, String pod) {
        assertThat(CgroupIdentity.parse(cgroup)).isEqualTo(new CgroupIdentity(slurm, pod));
    }

    @Test
    void theCgroupIsBelievedOverTheEnvironment() {
        RankClaim claim = RankClaim.of(
                Map.of("RANK", "0", "WORLD_SIZE", "1", "SLURM_JOB_ID", "666"),
                new CgroupIdentity("12.0", ""),
                new RankClaim.Local("net1", 77));

        assertThat(Objects.requireNonNull(claim).job().getSlurm()).isEqualTo("12.0");
    }

    @Test
    void onlyNamedVariablesAreTakenOutOfAnEnvironment() throws IOException {
        String block = "SECRET=RANK=9\0RANK=1\0XRANK=2\0RANKX=3\0WORLD_SIZE=2\0NOEQUALS\0UNHANG=" + "x".repeat(300)
                + "\0" + "Y".repeat(100_000) + "=1\0RANK=8\0LAST=1";

        assertThat(Environ.read(new ByteArrayInputStream(block.getBytes(StandardCharsets.UTF_8))))
                .isEqualTo(Map.of("RANK", "1", "WORLD_SIZE", "2"));
    }

    @Test
    void aProgramNameMayHoldBracketsAndBlanks() {
        String line =
                "12 (a) R (b) S 1 12 77 0 -1 4194304 1 0 0 0 60 40 7 8 20 0 1 0 120 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 17 1 0 0"
                        + " 0 0 0 94 94 94 140 140 150 141 0";

        assertThat(ProcStat.parse(line)).isEqualTo(new ProcStat(12, "a) R (b", 'S', 1, 77, false, 100, 120, 150));
        assertThat(ProcStat.parse("12 (cut")).isNull();
        assertThat(ProcStat.parse("")).isNull();
    }

    private static RankClaim claim(String environ) {
        return Objects.requireNonNull(maybe(environ), "no rank: " + environ);
    }

    private static @Nullable RankClaim maybe(String environ) {
        Map<String, String> variables = new HashMap<>();
        for (String each : environ.split(" ", -1)) {
            int equals = each.indexOf('=');
            variables.put(each.substring(0, equals), each.substring(equals + 1));
        }
        return RankClaim.of(variables, new CgroupIdentity("", ""), new RankClaim.Local("net1", 77));
    }
}
