package dev.unhang.lab.compose;

/** What a rank does in a second. */
enum Act {
    TRAINS,
    STARTS,
    /** In init, for ranks that are not there yet. */
    AWAITS_PEERS,
    /** Late for the first step, busy on its CPU; its GPU idles. */
    COMPILES,
    WAITS,
    STOPPED,
    /** Stopped by a debugger, which shows. */
    TRACED,
    LOOPS,
    SLEEPS,
    /** Asleep in the kernel: state D. */
    SLEEPS_D,
    /** Its process has left. */
    GONE,
    /** It gave up its communicator and idles. */
    ABORTED,
    CUT_OFF,
    CUT_OFF_PEER,
    /** Writes to a disk while its GPU idles. */
    WRITES,
    /** As one of many that write at once. */
    WRITES_SHARD,
    COMPUTES,
    STARVES,
    /** In the steps of a slow job: this rank's own work takes longer, on the CPU. */
    SLOW_ON_CPU,
    /** In the steps of a slow job: this rank's GPU computes longer. */
    SLOW_ON_GPU,
    /** In the steps of a slow job: waits for the slow rank. */
    SLOW_PEER,
    /** In the steps of a slow job: all that it does takes longer. */
    SLOW_AS_ALL,
    /** The straggler as it was recorded, and its peer. */
    STRAGGLES,
    STRAGGLES_PEER,
    HOLDS_MEMORY
}
