package dev.unhang.collector.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.FieldFault;
import dev.unhang.events.v1.GpuInventory;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.Loss;
import dev.unhang.events.v1.NicReading;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.RankReading;
import dev.unhang.events.v1.ReadStatus;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class CollectorMetricsTest {

    private static final ByteString UUID =
            ByteString.copyFrom(new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    private static final String LABEL = "{gpu=\"GPU-00010203-0405-0607-0809-0a0b0c0d0e0f\"}";

    private final FakeServed served = new FakeServed();
    private final CollectorMetrics metrics = new CollectorMetrics(served);

    @Test
    void readingsAreShownInTheirBaseUnits() {
        served.sample = NodeSample.newBuilder()
                .setSeq(5)
                .addGpus(gpu().setUtil(97).setEnergyMj(123_456).setMemUsedMib(2).setNvlinkRxKib(3))
                .addNics(NicReading.newBuilder()
                        .setId("0000:5c:00.0/0")
                        .setName("eth0")
                        .setState(OperState.OPER_STATE_UP)
                        .setRxBytes(7))
                .addJobs(JobIdentity.newBuilder().setSlurm("12.0"))
                .addRanks(RankReading.newBuilder()
                        .setRank(3)
                        .setState('T')
                        .setProgressAgeMs(1500)
                        .setCpuTicks(250))
                .addLost(Loss.newBuilder().setKind("sample").setCount(4))
                .build();

        assertThat(metrics.scrape())
                .contains("unhang_gpu_util_percent" + LABEL + " 97.0\n")
                .contains("unhang_gpu_energy_joules_total" + LABEL + " 123.456\n")
                .contains("unhang_gpu_memory_used_bytes" + LABEL + " 2097152.0\n")
                .contains("unhang_gpu_nvlink_rx_bytes_total" + LABEL + " 3072.0\n")
                .contains("unhang_nic_rx_bytes_total{device=\"eth0\",nic=\"0000:5c:00.0/0\"} 7.0\n")
                .contains("unhang_nic_up{device=\"eth0\",nic=\"0000:5c:00.0/0\"} 1.0\n")
                .contains("unhang_rank_progress_age_seconds{job=\"12.0\",rank=\"3\"} 1.5\n")
                .contains("unhang_rank_stopped{job=\"12.0\",rank=\"3\"} 1.0\n")
                .contains("unhang_rank_cpu_seconds_total{job=\"12.0\",rank=\"3\"} 2.5\n")
                .contains("unhang_collector_lost_total{kind=\"sample\"} 4.0\n")
                .contains("unhang_collector_backlog_age_seconds 2.5\n")
                .contains("unhang_collector_sent_total 17.0\n")
                .contains("unhang_source_up{source=\"nvml\"} 0.0\n")
                .contains("unhang_source_stuck{source=\"nvml\"} 1.0\n");
    }

    @Test
    void whatWasNotReadIsAbsentAndNotZero() {
        served.sample = NodeSample.newBuilder().setSeq(5).addGpus(gpu()).build();

        assertThat(metrics.scrape())
                .doesNotContain("unhang_gpu_util_percent")
                .doesNotContain("unhang_gpu_energy")
                .doesNotContain("unhang_clock")
                .contains("unhang_gpu_up" + LABEL + " 1.0\n");
    }

    @Test
    void aCountOfTroubleIsZeroOnlyWhereItWasRead() {
        served.sample = NodeSample.newBuilder()
                .addGpus(gpu().addFaults(FieldFault.newBuilder().setField("pcie_replays")))
                .build();
        served.inventory = NodeInventory.newBuilder()
                .addGpus(GpuInventory.newBuilder().setUuid(UUID).addUnsupported("ecc_dbe_volatile"))
                .build();

        assertThat(metrics.scrape())
                .contains("unhang_gpu_recovery_action" + LABEL + " 0.0\n")
                .doesNotContain("unhang_gpu_pcie_replays")
                .doesNotContain("unhang_gpu_ecc");
    }

    @Test
    void aLostGpuIsDownAndTellsNothingElse() {
        served.sample = NodeSample.newBuilder()
                .addGpus(gpu().setStatus(ReadStatus.READ_STATUS_GPU_IS_LOST))
                .build();

        assertThat(metrics.scrape())
                .contains("unhang_gpu_up" + LABEL + " 0.0\n")
                .doesNotContain("unhang_gpu_processes")
                .doesNotContain("unhang_gpu_nvlink_errors");
    }

    @Test
    void whatIsGoneFromTheSampleIsGoneFromTheMetrics() {
        served.sample = NodeSample.newBuilder().addGpus(gpu().setUtil(97)).build();
        assertThat(metrics.scrape()).contains("unhang_gpu_util_percent");

        served.sample = NodeSample.getDefaultInstance();

        assertThat(metrics.scrape()).doesNotContain("unhang_gpu_");
    }

    @Test
    void namesAreOfOneFormAndSaidOnce() {
        assertThat(metrics.meters().stream().map(CollectorMetrics.Meter::shownName))
                .doesNotHaveDuplicates()
                .allMatch(name -> Pattern.matches("unhang_[a-z_]+", name));
    }

    private static GpuReading.Builder gpu() {
        return GpuReading.newBuilder().setUuid(UUID);
    }
}
