package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.NamedLevel;
import java.util.ArrayList;
import java.util.List;

/**
 * The traffic of one rank over all its paths (network devices, RDMA ports, NVLinks), each against its own level at
 * training. A path that is not read now is unknown and never quiet. A path that flows just as well while nothing computes
 * is somebody else's and tells nothing.
 */
final class Traffic {

    enum State {
        ACTIVE,
        QUIET,
        UNKNOWN
    }

    /** Bytes a second below which a path never proves or disproves anything. Keep-alives and our own records stay below. */
    static final double FLOOR = 1_000_000;

    private static final double WORK_SHARE = 0.05;
    private static final double QUIET_SHARE = 0.03;
    private static final int ODD_ENOUGH = 5;

    private static final class Path {
        final String name;
        final RunningLevel level = new RunningLevel(0.5);
        final RunningLevel whileIdle = new RunningLevel(0.5);
        final double[] recent = {Double.NaN, Double.NaN, Double.NaN};
        double most;
        double rate = Double.NaN;
        int odd;
        boolean background;

        Path(String name) {
            this.name = name;
        }

        double recentMedian() {
            double a = recent[0];
            double b = recent[1];
            double c = recent[2];
            if (Double.isNaN(a)) {
                return lower(b, c);
            }
            if (Double.isNaN(b)) {
                return lower(a, c);
            }
            return Double.isNaN(c) ? lower(a, b) : Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
        }

        private static double lower(double a, double b) {
            return Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.min(a, b);
        }
    }

    private final List<Path> paths = new ArrayList<>(2);

    /** Where in the list the path is that will be told next: nearly all samples tell of the same in the same order. */
    private int next;

    private double share;
    private double total = Double.NaN;
    private boolean active;

    /** The rate of each path over the last interval, NaN where it was not read. Call {@link #begin} before the first. */
    void rate(String path, double bytesPerSecond) {
        if (Double.isNaN(bytesPerSecond)) {
            return;
        }
        path(path).rate = bytesPerSecond;
        total = Double.isNaN(total) ? bytesPerSecond : total + bytesPerSecond;
    }

    private Path path(String name) {
        if (next < paths.size() && paths.get(next).name.equals(name)) {
            return paths.get(next++);
        }
        for (int i = 0; i < paths.size(); i++) {
            if (paths.get(i).name.equals(name)) {
                next = i + 1;
                return paths.get(i);
            }
        }
        Path path = new Path(name);
        paths.add(path);
        next = paths.size();
        return path;
    }

    void begin() {
        total = Double.NaN;
        next = 0;
        for (Path path : paths) {
            path.rate = Double.NaN;
        }
    }

    /** Sum of what its paths moved, bytes a second; NaN when none was read. */
    double total() {
        return total;
    }

    /** The largest share of its level that a path moves, after {@link #judge}; NaN while no level is known. */
    double share() {
        return share;
    }

    /** Whether the path carries a part of this rank's traffic at training that counts. */
    boolean uses(String name) {
        for (Path path : paths) {
            if (path.name.equals(name)) {
                return !path.background && counts(path.level.value(4), level());
            }
        }
        return false;
    }

    /** Whether it is known over which paths its traffic goes. */
    boolean known() {
        return level() >= FLOOR;
    }

    private static boolean counts(double level, double all) {
        return level >= FLOOR && level >= 0.05 * all;
    }

    /** Whether it was above quiet at the last {@link #judge}. */
    boolean active() {
        return active;
    }

    /** What it moves at training, bytes a second, over all paths; 0 while unknown. */
    double level() {
        double sum = 0;
        for (Path path : paths) {
            double level = path.level.value(4);
            sum += Double.isNaN(level) ? 0 : level;
        }
        return sum;
    }

    State judge(boolean lowPower) {
        double all = level();
        active = false;
        boolean quiet = false;
        boolean unknown = false;
        share = Double.NaN;
        for (Path path : paths) {
            double level = path.level.value(4);
            if (!counts(level, all)) {
                continue;
            }
            if (Double.isNaN(path.rate)) {
                unknown = true;
                continue;
            }
            System.arraycopy(path.recent, 1, path.recent, 0, 2);
            path.recent[2] = path.rate;
            if (path.background) {
                continue;
            }
            share = Math.max(Double.isNaN(share) ? 0 : share, path.rate / level);
            double idle = path.whileIdle.value(3);
            double floor = idle < 0.25 * level ? 2 * idle : 0;
            double moved = lowPower ? path.recentMedian() : path.rate;
            if (moved >= Math.max(WORK_SHARE * level, floor)) {
                active = true;
            } else if (moved <= Math.max(QUIET_SHARE * level, floor)) {
                quiet = true;
            } else {
                unknown = true;
            }
        }
        return active ? State.ACTIVE : quiet && !unknown ? State.QUIET : State.UNKNOWN;
    }

    /** While nothing computes: traffic far above that share of power cannot be the job's own. */
    void learnBackground() {
        for (Path path : paths) {
            double level = path.level.value(4);
            if (Double.isNaN(level) || Double.isNaN(path.rate)) {
                continue;
            }
            if (path.rate > 0.5 * level) {
                path.odd = Math.min(ODD_ENOUGH, path.odd + 1);
            } else if (path.rate < 0.1 * level) {
                path.odd = Math.max(-ODD_ENOUGH, Math.min(0, path.odd) - 1);
            }
            if (path.odd == ODD_ENOUGH) {
                path.background = true;
            } else if (path.odd == -ODD_ENOUGH) {
                path.background = false;
            }
        }
    }

    void learn() {
        for (Path path : paths) {
            if (Double.isNaN(path.rate)) {
                continue;
            }
            path.most = Math.max(path.most * 0.9995, path.rate);
            if (path.rate > 0 && path.rate > 0.05 * path.most) {
                path.level.add(path.rate);
            }
        }
    }

    void learnIdle() {
        for (Path path : paths) {
            path.whileIdle.add(path.rate);
        }
    }

    List<NamedLevel> toProto() {
        List<NamedLevel> levels = new ArrayList<>();
        paths.forEach(path -> levels.add(NamedLevel.newBuilder()
                .setName(path.name)
                .setLevel(path.level.toProto())
                .build()));
        return levels;
    }

    void restore(List<NamedLevel> levels) {
        for (NamedLevel each : levels) {
            path(each.getName()).level.restore(each.getLevel());
        }
    }
}
