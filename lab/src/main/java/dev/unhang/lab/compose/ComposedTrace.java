package dev.unhang.lab.compose;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * A trace that is made while it is read, as JSON lines: so a large job needs no more memory than a small one. One seed
 * gives the same bytes each time. Not thread safe.
 */
final class ComposedTrace extends InputStream {

    // So that a change in what one of them draws leaves the others as they were.
    private static final long OF_TROUBLE = 0x7e57ab1eL << 20;
    private static final long OF_NOISE = 0x5eedL << 40;
    private static final long OF_WAY = 0xdeca7L << 30;

    /** A record that waits until so many others have passed. */
    private static final class Late {
        private final byte[] record;
        private int left;

        Late(byte[] record, int left) {
            this.record = record;
            this.left = left;
        }
    }

    private final Plan plan;
    private final Trouble trouble;
    private final Player player;
    private final TraceJson json;
    private final Draw way;
    private final double[] offsets;
    private final List<Integer> order;
    private final List<Late> late = new ArrayList<>();
    private byte[] bytes;
    private int at;
    private int second;

    ComposedTrace(Plan plan, Segments segments) throws IOException {
        this.plan = plan;
        trouble = Trouble.draw(new Draw(plan.seed() ^ OF_TROUBLE), plan);
        player = new Player(plan, segments, trouble, new Draw(plan.seed() ^ OF_NOISE));
        json = new TraceJson(plan);
        way = new Draw(plan.seed() ^ OF_WAY);
        offsets = new double[plan.setting().nodes()];
        order = new ArrayList<>();
        for (int node = 0; node < offsets.length; node++) {
            offsets[node] = way.between(0, 0.4);
            order.add(node);
        }
        order.sort((a, b) -> Double.compare(offsets[a], offsets[b]));
        bytes = json.header(trouble.occasions());
    }

    Plan plan() {
        return plan;
    }

    /** What is no fault: of the job's history, and of its telemetry. */
    List<Occasion> occasions() {
        List<Occasion> all = new ArrayList<>(plan.occasions());
        all.addAll(trouble.occasions());
        return all;
    }

    private boolean fill() throws IOException {
        while (at >= bytes.length) {
            if (second >= plan.seconds()) {
                return false;
            }
            second++;
            ByteArrayOutputStream next = new ByteArrayOutputStream(1 << 12);
            player.play(second);
            for (int node : order) {
                arrive(node, next);
            }
            bytes = next.toByteArray();
            at = 0;
        }
        return true;
    }

    private void arrive(int node, ByteArrayOutputStream log) throws IOException {
        double jitter = way.between(0, 0.004);
        boolean lost = way.chance(trouble.lost());
        boolean twice = way.chance(trouble.twice());
        boolean isLate = way.chance(trouble.late());
        int by = way.whole(2, 5);
        if (lost || trouble.silences(node, second) || player.silent(node)) {
            return;
        }
        byte[] record = json.record(second + offsets[node] + jitter, node, second, player);
        if (isLate) {
            late.add(new Late(record, by));
            return;
        }
        log.writeBytes(record);
        if (twice) {
            log.writeBytes(record);
        }
        for (Late each : late) {
            each.left--;
            if (each.left == 0) {
                log.writeBytes(each.record);
            }
        }
        late.removeIf(each -> each.left <= 0);
    }

    @Override
    public int read() throws IOException {
        return fill() ? bytes[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (!fill()) {
            return -1;
        }
        int count = Math.min(length, bytes.length - at);
        System.arraycopy(bytes, at, into, offset, count);
        at += count;
        return count;
    }
}
