package dev.unhang.collector.source.net;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/**
 * The network devices of the namespace in which this process runs, as the C library's ioctls tell them. sysfs shows
 * the namespace of whoever mounted it, which can be another one; this tells the two apart.
 */
@FunctionalInterface
public interface Interfaces {

    /**
     * One device.
     *
     * @param index the kernel's ifindex
     * @param running up and with a carrier
     */
    record Interface(int index, boolean running) {}

    /** By name. */
    Map<String, Interface> list() throws SocketException;

    /** Asks the kernel. */
    static Map<String, Interface> ofThisProcess() throws SocketException {
        Map<String, Interface> found = new HashMap<>();
        for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            found.put(each.getName(), new Interface(each.getIndex(), each.isUp()));
        }
        return found;
    }
}
