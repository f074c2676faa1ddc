package dev.unhang.healer.actuator.repair;

import java.time.Duration;
import java.util.List;

/** The outside world of a repair: programs, and time that passes. One thread at a time. */
public interface Programs {

    /** Runs a program to its end, or to the deadline, and always answers. */
    Ran run(Duration deadline, List<String> words);

    /** Waits. An interrupt is kept for later: what was disturbed is put back first. */
    void pause(Duration duration);

    /** Nanoseconds of a clock that only goes forward. */
    long nanos();
}
