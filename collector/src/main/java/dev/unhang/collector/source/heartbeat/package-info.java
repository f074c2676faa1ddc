/** What training scripts say of themselves, as datagrams on the loopback device. */
@NullMarked
package dev.unhang.collector.source.heartbeat;

import org.jspecify.annotations.NullMarked;
