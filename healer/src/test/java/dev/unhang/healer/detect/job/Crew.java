package dev.unhang.healer.detect.job;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ActivityClass;
import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.Phase;
import dev.unhang.events.v1.RankReport;
import dev.unhang.events.v1.Watch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The ranks of one job for tests, as their nodes report them now; unless a test says otherwise all compute, and report progress. */
final class Crew {

    long nowMs = 1_000_000;
    private final List<NodeReport.Builder> nodes = new ArrayList<>();
    private final List<RankReport.Builder> ranks = new ArrayList<>();
    private final int perNode;

    /** One rank a node. */
    Crew(int size) {
        this(size, 1);
    }

    Crew(int size, int perNode) {
        this.perNode = perNode;
        for (int rank = 0; rank < size; rank++) {
            if (rank % perNode == 0) {
                nodes.add(NodeReport.newBuilder().setNode("n" + rank / perNode).setWatch(Watch.WATCH_WATCHED));
            }
            ranks.add(RankReport.newBuilder()
                    .setRank(rank)
                    .setPid(100 + rank)
                    .setStartTicks(9)
                    .setArmed(true)
                    .setState('R')
                    .addGpus(ByteString.copyFrom(new byte[] {(byte) rank}))
                    .setActivity(ActivityClass.ACTIVITY_CLASS_WORK)
                    .setPhase(Phase.PHASE_TRAIN)
                    .setStep(100)
                    .setProgressAgeMs(200));
        }
    }

    RankReport.Builder rank(int rank) {
        return ranks.get(rank);
    }

    NodeReport.Builder node(int node) {
        return nodes.get(node);
    }

    Crew each(Consumer<RankReport.Builder> change) {
        ranks.forEach(change);
        return this;
    }

    private Crew are(ActivityClass activity, int... which) {
        for (int rank : which) {
            ranks.get(rank).setActivity(activity);
        }
        return this;
    }

    Crew spin(int... which) {
        return are(ActivityClass.ACTIVITY_CLASS_SPIN, which);
    }

    Crew idle(int... which) {
        return are(ActivityClass.ACTIVITY_CLASS_IDLE, which);
    }

    Crew work(int... which) {
        return are(ActivityClass.ACTIVITY_CLASS_WORK, which);
    }

    Crew unknown(int... which) {
        return are(ActivityClass.ACTIVITY_CLASS_UNKNOWN, which);
    }

    Crew gone(int seconds, int... which) {
        for (int rank : which) {
            ranks.get(rank).setGoneMs(1000 * seconds);
        }
        return are(ActivityClass.ACTIVITY_CLASS_GONE, which);
    }

    /** All wait in a collective, and have for so long. */
    Crew still(double seconds) {
        return each(rank -> rank.setActivity(ActivityClass.ACTIVITY_CLASS_SPIN)
                .setStillMs((int) (1000 * seconds))
                .setProgressAgeMs((int) (1000 * seconds)));
    }

    Crew stopped(int seconds, int... which) {
        for (int rank : which) {
            ranks.get(rank).setState('T').setStateMs(1000 * seconds);
        }
        return idle(which);
    }

    /** The node does not speak. */
    Crew silent(int seconds, int... which) {
        for (int node : which) {
            nodes.get(node).setWatch(Watch.WATCH_SILENT).setSilentMs(1000 * seconds);
        }
        return this;
    }

    /** Its port is down; {@code pathsKnown}: and carries traffic of the job. */
    Crew portDown(int rank, int seconds, OperState state, boolean pathsKnown) {
        node(rank / perNode)
                .addNics(NicReport.newBuilder().setId("nic").setState(state).setDownMs(1000 * seconds));
        ranks.get(rank).addPortsDown("nic");
        if (pathsKnown) {
            ranks.get(rank).setTrafficSharePm(0);
        }
        return this;
    }

    Crew withoutGpus() {
        return each(RankReport.Builder::clearGpus);
    }

    Crew withoutHeartbeats() {
        return each(rank -> rank.clearStep().clearProgressAgeMs().setPhase(Phase.PHASE_NONE));
    }

    /** A second passes: what stands still has stood so for a second more. */
    Crew second() {
        nowMs += 1000;
        return each(rank -> {
            boolean works = rank.getActivity() == ActivityClass.ACTIVITY_CLASS_WORK;
            rank.setStillMs(works ? 0 : rank.getStillMs() + 1000).setStateMs(rank.getStateMs() + 1000);
            if (rank.hasProgressAgeMs()) {
                rank.setProgressAgeMs(works ? 200 : rank.getProgressAgeMs() + 1000);
            }
            if (rank.getActivity() == ActivityClass.ACTIVITY_CLASS_GONE) {
                rank.setGoneMs(rank.getGoneMs() + 1000);
            }
        });
    }

    List<RankView> views() {
        List<RankView> views = new ArrayList<>();
        for (RankReport.Builder rank : ranks) {
            NodeReport node = nodes.get(rank.getRank() / perNode).build();
            RankView view = new RankView(rank.getRank(), node.getNode());
            view.heard(node, rank.build(), nowMs);
            views.add(view);
        }
        return views;
    }

    RollCall roll() {
        return new RollCall(views(), nowMs);
    }

    Hearsay nothingSaid() {
        return new Hearsay(views(), new AddressBook(), List.of(), nowMs);
    }
}
