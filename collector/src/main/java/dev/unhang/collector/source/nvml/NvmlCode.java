package dev.unhang.collector.source.nvml;

import dev.unhang.events.v1.ReadStatus;

/** What NVML's return codes ({@code nvmlReturn_t}, nvml.h 13.3.29) mean to a reading. The code itself is kept beside. */
final class NvmlCode {

    static final int SUCCESS = 0;
    static final int UNINITIALIZED = 1;
    static final int INVALID_ARGUMENT = 2;
    static final int NOT_SUPPORTED = 3;
    static final int NO_PERMISSION = 4;
    static final int NOT_FOUND = 6;
    static final int INSUFFICIENT_SIZE = 7;
    static final int DRIVER_NOT_LOADED = 9;
    static final int LIBRARY_NOT_FOUND = 12;
    static final int FUNCTION_NOT_FOUND = 13;
    static final int GPU_IS_LOST = 15;
    static final int RESET_REQUIRED = 16;
    static final int OPERATING_SYSTEM = 17;
    static final int LIB_RM_VERSION_MISMATCH = 18;
    static final int ARGUMENT_VERSION_MISMATCH = 25;
    static final int DEPRECATED = 26;
    static final int GPU_NOT_FOUND = 28;
    static final int UNKNOWN = 999;

    private NvmlCode() {}

    static ReadStatus status(int code) {
        return switch (code) {
            case SUCCESS -> ReadStatus.READ_STATUS_OK;
            case NOT_SUPPORTED, FUNCTION_NOT_FOUND, ARGUMENT_VERSION_MISMATCH, DEPRECATED ->
                ReadStatus.READ_STATUS_NOT_SUPPORTED;
            case NO_PERMISSION, OPERATING_SYSTEM -> ReadStatus.READ_STATUS_NO_PERMISSION;
            case DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, GPU_NOT_FOUND -> ReadStatus.READ_STATUS_ABSENT;
            case GPU_IS_LOST -> ReadStatus.READ_STATUS_GPU_IS_LOST;
            case RESET_REQUIRED -> ReadStatus.READ_STATUS_RESET_REQUIRED;
            default -> ReadStatus.READ_STATUS_FAILED;
        };
    }

    /** The device or the driver can never answer this, so it is not asked again. */
    static boolean never(int code) {
        return status(code) == ReadStatus.READ_STATUS_NOT_SUPPORTED;
    }

    /** The session itself is dead: only a new {@code nvmlInit} helps. */
    static boolean sessionIsDead(int code) {
        return code == UNINITIALIZED || code == DRIVER_NOT_LOADED || code == LIB_RM_VERSION_MISMATCH;
    }

    static String explain(int code) {
        return switch (code) {
            case SUCCESS -> "success";
            case UNINITIALIZED -> "NVML is not initialised (NVML 1)";
            case INVALID_ARGUMENT -> "invalid argument (NVML 2)";
            case NOT_SUPPORTED -> "not supported (NVML 3)";
            case NO_PERMISSION -> "no permission (NVML 4)";
            case DRIVER_NOT_LOADED -> "the NVIDIA driver is not loaded (NVML 9)";
            case LIBRARY_NOT_FOUND -> "a library of the driver was not found (NVML 12)";
            case FUNCTION_NOT_FOUND -> "this driver has no such function (NVML 13)";
            case GPU_IS_LOST -> "the GPU is lost (NVML 15)";
            case RESET_REQUIRED -> "the GPU needs a reset (NVML 16)";
            case OPERATING_SYSTEM -> "the operating system blocks the GPU (NVML 17)";
            case LIB_RM_VERSION_MISMATCH ->
                "driver and NVML library differ (NVML 18): the driver package was updated and the driver not reloaded";
            default -> "NVML error " + code;
        };
    }
}
