package dev.unhang.lab.compose;

/** What a rank can be seen to do in the recorded traces; {@link Recordings} says where. */
enum Part {
    STARTS,
    AWAITS_PEERS,
    TRAINS,
    TRAINS_NVLINK,
    WAITS,
    WAITS_NVLINK,
    STOPPED,
    STOPPED_NVLINK,
    LOOPS,
    CUT_OFF,
    CUT_OFF_PEER,
    ABORTED,
    /** The GPU that a process has left. */
    GONE,
    /** Its GPU idles while the process does something else, or sleeps. */
    SLEEPS,
    WRITES_SHARD,
    COMPUTES,
    STARVES,
    SLOW,
    SLOW_PEER,
    HOLDS_MEMORY
}
