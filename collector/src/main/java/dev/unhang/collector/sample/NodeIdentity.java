package dev.unhang.collector.sample;

import com.google.protobuf.ByteString;

/**
 * Who speaks, in every record of one collector start.
 *
 * @param node the scheduler's name of the node
 * @param bootId 16 bytes of {@code /proc/sys/kernel/random/boot_id}
 * @param collectorStart ms since 1970; an identity, never a time to subtract
 * @param machineId 16 bytes of a hash of {@code /etc/machine-id}; empty where there is none
 * @param version of the collector
 */
public record NodeIdentity(String node, ByteString bootId, long collectorStart, ByteString machineId, String version) {}
