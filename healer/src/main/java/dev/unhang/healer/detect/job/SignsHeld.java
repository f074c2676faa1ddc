package dev.unhang.healer.detect.job;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How long hard signs have stood beside a standstill without a break, not each for itself. */
final class SignsHeld {

    /** A sign that is this old when it is first seen with the standstill came with it, ms. */
    private static final long TOGETHER_MS = 2_000;

    private final Map<HardSign.Kind, Map<Integer, Long>> sinceMs = new EnumMap<>(HardSign.Kind.class);

    void clear() {
        sinceMs.clear();
    }

    /** @param onlyGone then the youngest counts: as long as processes go on to vanish, the job may be ending */
    double seconds(List<HardSign> hard, boolean onlyGone, long nowMs) {
        Map<HardSign.Kind, Map<Integer, Long>> now = new EnumMap<>(HardSign.Kind.class);
        long longest = 0;
        long youngest = Long.MAX_VALUE;
        for (HardSign sign : hard) {
            long since = sinceMs.getOrDefault(sign.kind(), Map.of())
                    .getOrDefault(sign.rank().rank, nowMs - Math.min(sign.ageMs(), TOGETHER_MS));
            now.computeIfAbsent(sign.kind(), kind -> new HashMap<>()).put(sign.rank().rank, since);
            longest = Math.max(longest, Math.min(sign.ageMs(), nowMs - since));
            youngest = Math.min(youngest, sign.ageMs());
        }
        sinceMs.clear();
        sinceMs.putAll(now);
        return (onlyGone ? youngest : longest) / 1000.0;
    }
}
