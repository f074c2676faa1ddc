package dev.unhang.healer.act;

import dev.unhang.events.v1.Offer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Offers that wait because the executor does one thing at a time; several incidents may ask for a drain at once. Bounded in
 * number and in time: an offer that nobody claimed for 30 s of log time is withdrawn anyhow. Confined to one thread.
 */
final class Waiting {

    static final int MOST = 64;
    static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(25);

    private record Since(Offer offer, long ns) {}

    private final Map<String, Since> offers = new LinkedHashMap<>();

    /** False when there are too many already. */
    boolean add(Offer offer, long nowNs) {
        if (offers.size() >= MOST) {
            return false;
        }
        offers.putIfAbsent(offer.getCommandId(), new Since(offer, nowNs));
        return true;
    }

    void remove(String command) {
        offers.remove(command);
    }

    /** The one that waits for longest and not too long. */
    Optional<Offer> next(long nowNs) {
        List<String> old = new ArrayList<>();
        offers.forEach((command, since) -> {
            if (nowNs - since.ns() > LONGEST_NS) {
                old.add(command);
            }
        });
        old.forEach(offers::remove);
        var first = offers.values().iterator();
        if (!first.hasNext()) {
            return Optional.empty();
        }
        Offer offer = first.next().offer();
        first.remove();
        return Optional.of(offer);
    }
}
