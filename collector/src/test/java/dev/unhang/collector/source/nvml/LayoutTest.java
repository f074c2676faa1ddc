package dev.unhang.collector.source.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.NativeLibrary;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LayoutTest {

    @TempDir
    Path folder;

    @Test
    void sizesAreThoseOfTheHeaderAndOfAnH200() {
        assertThat(Layout.FIELD_VALUE).isEqualTo(40);
        assertThat(Layout.UTILIZATION).isEqualTo(8);
        assertThat(Layout.MEMORY).isEqualTo(24);
        assertThat(Layout.MEMORY_V2).isEqualTo(40);
        assertThat(Layout.PCI_INFO).isEqualTo(68);
        assertThat(Layout.TEMPERATURE).isEqualTo(12);
        assertThat(Layout.MARGIN_TEMPERATURE).isEqualTo(8);
        assertThat(Layout.PROCESS_V1).isEqualTo(16);
        assertThat(Layout.PROCESS).isEqualTo(24);
        assertThat(Layout.PROCESS_R535).isEqualTo(32);
    }

    @Test
    void versionWordsAreThoseOfTheHeader() {
        assertThat(Layout.versionWord(Layout.MEMORY_V2, 2)).isEqualTo(0x02000028);
        assertThat(Layout.versionWord(Layout.TEMPERATURE, 1)).isEqualTo(0x0100000c);
        assertThat(Layout.versionWord(Layout.MARGIN_TEMPERATURE, 1)).isEqualTo(0x01000008);
    }

    @Test
    void thisJvmHasTheWordSizesThatNvmlNeeds() {
        assertThat(Layout.mismatch()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "FieldValue, " + Layout.FIELD_VALUE,
        "FieldValue.fieldId, " + Layout.FIELD_ID,
        "FieldValue.scopeId, " + Layout.FIELD_SCOPE,
        "FieldValue.latencyUsec, " + Layout.FIELD_LATENCY_US,
        "FieldValue.valueType, " + Layout.FIELD_TYPE,
        "FieldValue.nvmlReturn, " + Layout.FIELD_RETURN,
        "FieldValue.value, " + Layout.FIELD_BITS,
        "Utilization, " + Layout.UTILIZATION,
        "Memory, " + Layout.MEMORY,
        "Memory.total, " + Layout.MEMORY_TOTAL,
        "Memory.used, " + Layout.MEMORY_USED,
        "MemoryV2, " + Layout.MEMORY_V2,
        "MemoryV2.total, " + Layout.MEMORY_V2_TOTAL,
        "MemoryV2.used, " + Layout.MEMORY_V2_USED,
        "PciInfo, " + Layout.PCI_INFO,
        "PciInfo.domain, " + Layout.PCI_DOMAIN,
        "PciInfo.bus, " + Layout.PCI_BUS,
        "PciInfo.device, " + Layout.PCI_DEVICE,
        "Temperature, " + Layout.TEMPERATURE,
        "Temperature.temperature, " + Layout.TEMPERATURE_CELSIUS,
        "MarginTemperature, " + Layout.MARGIN_TEMPERATURE,
        "MarginTemperature.marginTemperature, " + Layout.MARGIN_CELSIUS,
        "ProcessV1, " + Layout.PROCESS_V1,
        "Process, " + Layout.PROCESS,
        "Process.pid, " + Layout.PROCESS_PID,
        "Process.gpuInstanceId, " + Layout.PROCESS_GPU_INSTANCE,
        "ProcessR535, " + Layout.PROCESS_R535,
    })
    void offsetsAreThoseOfTheCompiler(String what, long ours) {
        NativeLibrary library = NativeLibrary.getInstance(FakeNvml.in(folder).library());
        try {
            assertThat(library.getFunction("fake_nvml_layout").invokeLong(new Object[] {what}))
                    .isEqualTo(ours);
        } finally {
            library.close();
        }
    }
}
