package dev.unhang.lab.compose;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** What one seed draws, in order. The generator is the one that Java specifies, so a seed is the same everywhere. */
final class Draw {

    private final Random random;

    Draw(long seed) {
        random = new Random(seed);
    }

    double between(double low, double high) {
        return low + (high - low) * random.nextDouble();
    }

    /** Spread evenly over orders of magnitude. */
    double spread(double low, double high) {
        return Math.exp(between(Math.log(low), Math.log(high)));
    }

    /** Both ends included. */
    int whole(int low, int high) {
        return low + random.nextInt(high - low + 1);
    }

    boolean chance(double share) {
        return random.nextDouble() < share;
    }

    <T> T one(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    /** One of those, each as likely as its weight says. */
    <T> T weighted(List<T> of, int... weights) {
        int sum = 0;
        for (int weight : weights) {
            sum += weight;
        }
        int left = random.nextInt(sum);
        for (int i = 0; i < weights.length; i++) {
            left -= weights[i];
            if (left < 0) {
                return of.get(i);
            }
        }
        throw new IllegalStateException("weights do not fit their list of " + of.size());
    }

    /** Different numbers below {@code limit}, in order. */
    List<Integer> some(int count, int limit) {
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < limit; i++) {
            all.add(i);
        }
        Collections.shuffle(all, random);
        List<Integer> taken = new ArrayList<>(all.subList(0, Math.min(count, limit)));
        Collections.sort(taken);
        return taken;
    }
}
