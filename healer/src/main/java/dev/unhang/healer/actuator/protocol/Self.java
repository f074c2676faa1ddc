package dev.unhang.healer.actuator.protocol;

import com.google.protobuf.ByteString;

/**
 * Who claims and answers.
 *
 * @param node as in its configuration, or {@code @scheduler}
 * @param bootId of the machine, 16 bytes
 * @param startId new with each start of the process
 */
public record Self(String node, ByteString bootId, String startId, String version) {}
