/** Network devices and RDMA ports, as sysfs tells them. */
@NullMarked
package dev.unhang.collector.source.net;

import org.jspecify.annotations.NullMarked;
