package dev.unhang.healer.act;

import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.healer.act.SchedulerView.Job;
import dev.unhang.healer.act.SchedulerView.JobState;
import dev.unhang.healer.act.SchedulerView.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What is news of a scheduler: a job or node that is other than when it was last told, and each minute all of them again.
 * Told of are jobs that have or had nodes; of ten thousand that wait for their first start nobody needs to hear. A job
 * that is not listed any more is told DONE once. While a scheduler does not answer nothing is told but that, once:
 * unknown is not gone. Holds what was told last. Confined to the thread that asks the scheduler.
 */
final class FactBook {

    /** How often all is told again: a decider that missed something hears it within this. */
    static final long ALL_AGAIN_NS = TimeUnit.SECONDS.toNanos(60);

    private final String scheduler;
    private final Map<String, SchedulerFact> jobs = new HashMap<>();
    private final Map<String, SchedulerFact> nodes = new HashMap<>();
    private boolean answers;
    private boolean silenceTold;
    private long allToldNs;

    FactBook(String scheduler) {
        this.scheduler = scheduler;
    }

    /** What to tell now that the scheduler told this. */
    List<SchedulerFact> onView(SchedulerView view, long nowNs) {
        boolean all = !answers || nowNs - allToldNs >= ALL_AGAIN_NS;
        if (all) {
            allToldNs = nowNs;
        }
        boolean first = !answers;
        answers = true;
        silenceTold = false;
        List<SchedulerFact> news = new ArrayList<>();
        tellJobs(view, all, first, news);
        tellNodes(view, all, news);
        return news;
    }

    /** What to tell now that the scheduler did not answer; {@code why} is a sentence. */
    List<SchedulerFact> onSilence(String why) {
        answers = false;
        if (silenceTold) {
            return List.of();
        }
        silenceTold = true;
        return List.of(SchedulerFact.newBuilder()
                .setScheduler(scheduler)
                .setJobState(JobState.UNKNOWN.name())
                .setNodeState(SchedulerView.NodeState.UNKNOWN.name())
                .setReason(why)
                .build());
    }

    private void tellJobs(SchedulerView view, boolean all, boolean first, List<SchedulerFact> news) {
        Map<String, SchedulerFact> before = new HashMap<>(jobs);
        jobs.clear();
        for (Job job : view.jobs()) {
            SchedulerFact told = before.remove(job.id());
            if (told == null && job.nodes().isEmpty() && job.restarts() == 0) {
                continue;
            }
            SchedulerFact fact = fact(job);
            jobs.put(job.id(), fact);
            boolean over = job.state() == JobState.DONE;
            if (!fact.equals(told) || first || (all && !over)) {
                news.add(fact);
            }
        }
        for (SchedulerFact gone : before.values()) {
            if (!gone.getJobState().equals(JobState.DONE.name())) {
                news.add(gone.toBuilder()
                        .setJobState(JobState.DONE.name())
                        .setReason(scheduler + " does not list it any more")
                        .build());
            }
        }
    }

    private void tellNodes(SchedulerView view, boolean all, List<SchedulerFact> news) {
        Map<String, SchedulerFact> before = new HashMap<>(nodes);
        nodes.clear();
        for (Node node : view.nodes()) {
            SchedulerFact fact = fact(node);
            nodes.put(node.name(), fact);
            if (all || !fact.equals(before.get(node.name()))) {
                news.add(fact);
            }
        }
    }

    private SchedulerFact fact(Job job) {
        return SchedulerFact.newBuilder()
                .setScheduler(scheduler)
                .setJob(job.id())
                .setJobState(job.state().name())
                .setReason(job.word().equals(job.state().name()) ? "" : job.word())
                .addAllNodes(job.nodes())
                .build();
    }

    private SchedulerFact fact(Node node) {
        return SchedulerFact.newBuilder()
                .setScheduler(scheduler)
                .setNode(node.name())
                .setNodeState(node.state().name())
                .setReason(node.reason())
                .setWho(node.who())
                .build();
    }
}
