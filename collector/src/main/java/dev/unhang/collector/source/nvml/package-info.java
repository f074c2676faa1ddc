/**
 * Reads NVIDIA GPUs through NVML by JNA. A driver that is not there, a symbol that an older driver lacks and a field that
 * a GPU never answers are each noticed once and remembered; a raw NVML code is data; a call that hangs holds up its own
 * GPU only.
 */
@NullMarked
package dev.unhang.collector.source.nvml;

import org.jspecify.annotations.NullMarked;
