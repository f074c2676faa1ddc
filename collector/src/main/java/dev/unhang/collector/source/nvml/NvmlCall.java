package dev.unhang.collector.source.nvml;

import java.util.List;

/**
 * The C functions that we call, each bound on its own. Several names of one call have the same signature, the newest
 * first; where a newer function takes another struct it is a call of its own, and the reader falls back.
 */
enum NvmlCall {
    INIT("nvmlInit_v2", "nvmlInit"),
    SHUTDOWN("nvmlShutdown"),
    DRIVER_VERSION("nvmlSystemGetDriverVersion"),
    NVML_VERSION("nvmlSystemGetNVMLVersion"),
    CUDA_VERSION("nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"),
    COUNT("nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"),
    HANDLE("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"),
    UUID("nvmlDeviceGetUUID"),
    PCI_INFO("nvmlDeviceGetPciInfo_v3"),
    NAME("nvmlDeviceGetName"),
    SERIAL("nvmlDeviceGetSerial"),
    VBIOS("nvmlDeviceGetVbiosVersion"),
    UTILIZATION("nvmlDeviceGetUtilizationRates"),
    MEMORY_V2("nvmlDeviceGetMemoryInfo_v2"),
    MEMORY("nvmlDeviceGetMemoryInfo"),
    CLOCK("nvmlDeviceGetClockInfo"),
    MAX_CLOCK("nvmlDeviceGetMaxClockInfo"),
    TEMPERATURE_V("nvmlDeviceGetTemperatureV"),
    TEMPERATURE("nvmlDeviceGetTemperature"),
    MARGIN_TEMPERATURE("nvmlDeviceGetMarginTemperature"),
    EVENT_REASONS("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"),
    POWER("nvmlDeviceGetPowerUsage"),
    POWER_LIMIT("nvmlDeviceGetEnforcedPowerLimit"),
    ENERGY("nvmlDeviceGetTotalEnergyConsumption"),
    PCIE_REPLAYS("nvmlDeviceGetPcieReplayCounter"),
    PCIE_THROUGHPUT("nvmlDeviceGetPcieThroughput"),
    PCIE_GENERATION_MAX("nvmlDeviceGetMaxPcieLinkGeneration"),
    PCIE_WIDTH_MAX("nvmlDeviceGetMaxPcieLinkWidth"),
    REMAPPED_ROWS("nvmlDeviceGetRemappedRows"),
    PERSISTENCE("nvmlDeviceGetPersistenceMode"),
    FIELD_VALUES("nvmlDeviceGetFieldValues"),
    PROCESSES("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"),
    PROCESSES_V1("nvmlDeviceGetComputeRunningProcesses"),
    MPS_PROCESSES("nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2"),
    MIG_MODE("nvmlDeviceGetMigMode"),
    MIG_COUNT_MAX("nvmlDeviceGetMaxMigDeviceCount"),
    MIG_HANDLE("nvmlDeviceGetMigDeviceHandleByIndex"),
    GPU_INSTANCE("nvmlDeviceGetGpuInstanceId"),
    COMPUTE_INSTANCE("nvmlDeviceGetComputeInstanceId");

    @SuppressWarnings("ImmutableEnumChecker") // List.of
    private final List<String> symbols;

    NvmlCall(String... symbols) {
        this.symbols = List.of(symbols);
    }

    List<String> symbols() {
        return symbols;
    }
}
