package dev.unhang.lab.simulate;

import com.google.protobuf.ByteString;
import java.util.List;
import java.util.SplittableRandom;

/** The one source of chance of a run. Confined to one thread. */
final class Chance {

    private final SplittableRandom random;

    Chance(long seed) {
        random = new SplittableRandom(seed);
    }

    /** True so many times of a thousand. */
    boolean perMille(int share) {
        return random.nextInt(1000) < share;
    }

    /** From {@code from} to {@code to}, both included. */
    int between(int from, int to) {
        return from + random.nextInt(to - from + 1);
    }

    /** A time in seconds between two bounds, in nanoseconds. */
    long seconds(double from, double to) {
        return (long) (Agenda.SECOND * (from + random.nextDouble() * (to - from)));
    }

    <T> T of(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }

    @SafeVarargs
    final <T> T any(T... all) {
        return all[random.nextInt(all.length)];
    }

    ByteString bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return ByteString.copyFrom(bytes);
    }
}
