package dev.unhang.healer.actuator.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.healer.actuator.repair.Ran;
import org.junit.jupiter.api.Test;

/** Texts of nvidia-smi and of the kernel, each as one of them wrote it. */
class GpuReadingsTest {

    @Test
    void whatAnH200SaysIsReadByItsHeadings() {
        GpuAnswer gpu = GpuAnswer.parse("""

                ==============NVSMI LOG==============

                Attached GPUs                                          : 1
                GPU 00000000:00:06.0
                    Product Architecture                               : Hopper
                    Persistence Mode                                   : Enabled
                    MIG Mode
                        Current                                        : Disabled
                        Pending                                        : Disabled
                    Driver Model
                        Current                                        : N/A
                    GPU UUID                                           : GPU-59e1ec54-9791-bba6-8640-6d057b386b0e
                    Minor Number                                       : 0
                    GPU Recovery Action                                : None
                    PCI
                        Bus Id                                         : 00000000:1A:00.0
                        GPU Link Info
                            PCIe Generation
                                Max                                    : 5
                    Fabric
                        State                                          : N/A
                        Health
                            Summary                                    : N/A
                        CliqueId                                       : N/A
                """);
        assertThat(gpu.architecture()).isEqualTo("Hopper");
        assertThat(gpu.persistent()).isTrue();
        assertThat(gpu.mig()).isFalse();
        assertThat(gpu.minor()).contains("0");
        assertThat(gpu.busId()).isEqualTo("0000:1a:00");
        assertThat(gpu.recovery()).isEqualTo("None");
        assertThat(gpu.inFabric()).isFalse();
        assertThat(gpu.value("PCI/GPU Link Info/PCIe Generation/Max")).isEqualTo("5");
        assertThat(gpu.value("Fabric/CliqueId")).isEqualTo("N/A");
    }

    @Test
    void onlyTheLastWishOfTheDriverCounts() {
        String reboot =
                "NVRM: Xid (PCI:0000:1a:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot"
                        + " Required)\n";
        String none =
                "NVRM: Xid (PCI:0000:1a:00): 154, GPU recovery action changed from 0x2 (Node Reboot Required) to 0x0"
                        + " (None)\n";
        assertThat(KernelWords.against(reboot, "0000:1a:00").orElse("")).contains("asks for a reboot");
        assertThat(KernelWords.against(reboot + none, "0000:1a:00")).isEmpty();
        assertThat(KernelWords.against(reboot, "0000:1b:00")).isEmpty();
        assertThat(KernelWords.against(
                        "NVRM: Xid (PCI:0000:1a:00): 79, pid=7, GPU has fallen off the bus.\n" + none, "0000:1a:00"))
                .isPresent();
        assertThat(KernelWords.against("NVRM: Xid (PCI:0000:1a:00): 794, x\n", "0000:1a:00"))
                .isEmpty();
    }

    @Test
    void gpusThatNvLinkJoinsAreFoundInTheMatrix() {
        String topology = """
                \t\u001b[4mGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u001b[0m
                GPU0\t X \tNV4\tSYS\tSYS\t0-15\t0\t\tN/A
                GPU1\tNV4\t X \tSYS\tSYS\t0-15\t0\t\tN/A
                GPU2\tSYS\tSYS\t X \tPHB\t0-15\t0\t\tN/A
                GPU3\tSYS\tSYS\tPHB\t X \t0-15\t0\t\tN/A

                Legend:

                  X    = Self
                  NV#  = Connection traversing a bonded set of # NVLinks
                """;
        assertThat(Topology.joined(topology, 0)).containsExactly(0, 1);
        assertThat(Topology.joined(topology, 2)).containsExactly(2);
    }

    @Test
    void aFailureOfNvidiaSmiHasItsMeaning() {
        assertThat(GpuAnswer.trouble(new Ran(15, "", "", Ran.Ending.BY_ITSELF)).orElse(""))
                .contains("power cycle");
        assertThat(GpuAnswer.trouble(new Ran(
                                255,
                                "Unable to determine the device handle for GPU0000:91:00.0: Unknown Error",
                                "",
                                Ran.Ending.BY_ITSELF))
                        .orElse(""))
                .contains("power cycle");
        assertThat(GpuAnswer.trouble(new Ran(18, "", "", Ran.Ending.BY_ITSELF)).orElse(""))
                .contains("differ in version");
        assertThat(GpuAnswer.trouble(new Ran(-1, "", "", Ran.Ending.KILLED)).orElse(""))
                .contains("does not answer");
        assertThat(GpuAnswer.trouble(new Ran(4, "", "", Ran.Ending.BY_ITSELF))).isEmpty();
    }
}
