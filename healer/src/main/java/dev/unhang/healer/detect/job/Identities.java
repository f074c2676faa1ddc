package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.JobIdentity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * By what a job is known. Ranks that share one strong identity are of one job, which is named by the first that is
 * present, in this order. Pure.
 */
final class Identities {

    private static final List<String> ORDER = List.of("heartbeat", "slurm", "k8s", "torchelastic", "master", "local");

    private static final String OFF = "off";
    private static final String OBSERVE = "observe";

    private Identities() {}

    /** The strong identities, each with its kind so that two kinds never meet by accident; the one that names first. */
    static List<String> keys(JobIdentity job, String node) {
        List<String> keys = new ArrayList<>(4);
        add(keys, "heartbeat", job.getHeartbeat());
        add(keys, "slurm", job.getSlurm());
        add(keys, "k8s", job.getK8S());
        add(keys, "torchelastic", job.getTorchelastic().equals("none") ? "" : job.getTorchelastic());
        add(keys, "master", loopback(job.getMaster()) ? "" : job.getMaster());
        if (keys.isEmpty()) {
            // Weak ones hold on their node only.
            String local = first(job.getLocal(), job.getMaster(), job.getTorchelastic(), "job");
            keys.add("local:" + node + "/" + local);
        }
        return keys;
    }

    /** Which of two keys should name a job: the lower. */
    static int order(String key) {
        return ORDER.indexOf(key.substring(0, key.indexOf(':')));
    }

    /** The name for people and subjects, without the kind. */
    static String name(String key) {
        return key.substring(key.indexOf(':') + 1);
    }

    /** All that the ranks of one job say of it; where they differ the lowest rank's word, and the strictest mode. */
    static JobIdentity join(Collection<RankView> ranks) {
        JobIdentity.Builder joined = JobIdentity.newBuilder();
        JobIdentity last = null;
        for (RankView rank : ranks) {
            JobIdentity one = rank.report().getJob();
            if (!one.equals(last)) {
                join(joined, one);
                last = one;
            }
        }
        return joined.build();
    }

    private static void join(JobIdentity.Builder joined, JobIdentity one) {
        joined.setHeartbeat(first(joined.getHeartbeat(), one.getHeartbeat()))
                .setSlurm(first(joined.getSlurm(), one.getSlurm()))
                .setK8S(first(joined.getK8S(), one.getK8S()))
                .setTorchelastic(first(joined.getTorchelastic(), one.getTorchelastic()))
                .setMaster(first(joined.getMaster(), one.getMaster()))
                .setLocal(first(joined.getLocal(), one.getLocal()))
                .setWorld(Math.max(joined.getWorld(), one.getWorld()))
                .setAnnounces(joined.getAnnounces() || one.getAnnounces())
                .setMode(stricter(joined.getMode(), one.getMode()));
        if (one.getEpochKnown()) {
            joined.setEpochKnown(true).setEpoch(Math.max(joined.getEpoch(), one.getEpoch()));
        }
    }

    /** {@code off} before {@code observe} before a word that this version does not know, which asks for less too. */
    private static String stricter(String one, String other) {
        if (one.equals(OFF) || other.equals(OFF)) {
            return OFF;
        }
        return one.equals(OBSERVE) || other.equals(OBSERVE) ? OBSERVE : first(one, other);
    }

    private static void add(List<String> keys, String kind, String value) {
        if (!value.isEmpty()) {
            keys.add(kind + ":" + value);
        }
    }

    private static boolean loopback(String address) {
        return address.startsWith("127.")
                || address.startsWith("localhost")
                || address.startsWith("::1")
                || address.startsWith("[::1]");
    }

    private static String first(String... values) {
        for (String value : values) {
            if (!value.isEmpty()) {
                return value;
            }
        }
        return "";
    }
}
