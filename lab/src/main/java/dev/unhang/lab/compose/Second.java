package dev.unhang.lab.compose;

/**
 * What one rank's GPU, its process and its share of the NIC showed in one second: gauges as read at its end, and by how
 * much each counter grew in it.
 *
 * @param power mW
 * @param energy mJ
 * @param nvlinkOut KiB
 * @param nvlinkIn KiB
 * @param pcieOut bytes, modulo 2^32
 * @param pcieIn bytes, modulo 2^32
 * @param in bytes that the NIC received
 * @param out bytes that it sent
 * @param state letter of /proc/PID/stat
 * @param cpu ticks of 10 ms, all threads
 */
record Second(
        double util,
        double memUtil,
        double power,
        double energy,
        int smMhz,
        int memMhz,
        int celsius,
        int memMib,
        int reasons,
        double nvlinkOut,
        double nvlinkIn,
        double pcieOut,
        double pcieIn,
        double in,
        double out,
        double packetsIn,
        double packetsOut,
        char state,
        double cpu) {

    /** A second of which a share looked like another. Its process and its clocks are those of the greater part. */
    Second mixed(Second other, double share) {
        if (share <= 0) {
            return this;
        }
        if (share >= 1) {
            return other;
        }
        Second most = share > 0.5 ? other : this;
        return new Second(
                mix(util, other.util, share),
                mix(memUtil, other.memUtil, share),
                mix(power, other.power, share),
                mix(energy, other.energy, share),
                most.smMhz,
                most.memMhz,
                most.celsius,
                most.memMib,
                most.reasons,
                mix(nvlinkOut, other.nvlinkOut, share),
                mix(nvlinkIn, other.nvlinkIn, share),
                mix(pcieOut, other.pcieOut, share),
                mix(pcieIn, other.pcieIn, share),
                mix(in, other.in, share),
                mix(out, other.out, share),
                mix(packetsIn, other.packetsIn, share),
                mix(packetsOut, other.packetsOut, share),
                most.state,
                mix(cpu, other.cpu, share));
    }

    Second withProcess(char newState, double newCpu) {
        return new Second(
                util,
                memUtil,
                power,
                energy,
                smMhz,
                memMhz,
                celsius,
                memMib,
                reasons,
                nvlinkOut,
                nvlinkIn,
                pcieOut,
                pcieIn,
                in,
                out,
                packetsIn,
                packetsOut,
                newState,
                newCpu);
    }

    /** The NVLink counters of another second. */
    Second withNvlinkOf(Second other) {
        return new Second(
                util,
                memUtil,
                power,
                energy,
                smMhz,
                memMhz,
                celsius,
                memMib,
                reasons,
                other.nvlinkOut,
                other.nvlinkIn,
                pcieOut,
                pcieIn,
                in,
                out,
                packetsIn,
                packetsOut,
                state,
                cpu);
    }

    private static double mix(double a, double b, double share) {
        return a + (b - a) * share;
    }
}
