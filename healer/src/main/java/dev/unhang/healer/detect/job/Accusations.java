package dev.unhang.healer.detect.job;

import dev.unhang.events.v1.Accusation;
import dev.unhang.events.v1.NcclKind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Whom the ranks of a job name in their NCCL and PyTorch logs: each distinct accuser of a node is one point, five at
 * most; a fatal error of a rank's own device, and to be named by PyTorch's desync report, are five. Only words count that
 * are hardly older than the standstill, and only nodes of the job can be named. What most ranks say of themselves, or a
 * desync report of most ranks, weighs against nobody. Pure.
 */
final class Accusations {

    /** The standstill is noticed a little after the words that go with its cause, ms. */
    static final long MARGIN_MS = 15_000;

    static final double MOST_POINTS = 5;
    static final double OWN_ERROR_POINTS = 5;
    static final double DESYNC_POINTS = 5;

    /**
     * A rank of the job and what it said last.
     *
     * @param heardMs how long ago its node's report came, log time; it adds to the age of its words
     */
    record Witness(int rank, String node, List<Accusation> words, long heardMs) {
        Witness {
            words = List.copyOf(words);
        }
    }

    /**
     * Who is named.
     *
     * @param rank null: any rank of the node
     * @param accusers how many distinct ranks name it; it itself where the error is its own
     * @param sentence that a person can check
     */
    record Accused(String node, @Nullable Integer rank, int accusers, double points, String sentence) {

        /** Whether it weighs against this rank. */
        boolean means(int otherRank, String otherNode) {
            return rank == null ? node.equals(otherNode) : rank == otherRank;
        }
    }

    /** Those that name one node. */
    private static final class Case {
        final Set<Integer> accusers = new TreeSet<>();
        final Map<String, Integer> peers = new TreeMap<>();
        final Map<String, Integer> errors = new TreeMap<>();
    }

    private final Collection<Witness> ranks;
    private final AddressBook book;
    private final long sinceMs;
    private final List<Accused> accused = new ArrayList<>();

    private Accusations(Collection<Witness> ranks, AddressBook book, long stillMs) {
        this.ranks = ranks;
        this.book = book;
        this.sinceMs = Math.max(0, stillMs) + MARGIN_MS;
    }

    /**
     * All that are accused, worst first.
     *
     * @param ranks all of the job, with or without words
     * @param stillMs for how long the job has stood still, ms
     */
    static List<Accused> of(Collection<Witness> ranks, AddressBook book, long stillMs) {
        if (ranks.stream().allMatch(rank -> rank.words().isEmpty())) {
            return List.of();
        }
        Accusations all = new Accusations(ranks, book, stillMs);
        all.byPeers();
        all.byThemselves();
        all.byDesync();
        all.accused.sort(Comparator.comparingDouble((Accused each) -> -each.points())
                .thenComparing(Accused::node)
                .thenComparing(each -> each.rank() == null ? -1 : each.rank()));
        return all.accused;
    }

    private boolean counts(Witness witness, Accusation word) {
        return Integer.toUnsignedLong(word.getAgeMs()) + witness.heardMs() <= sinceMs;
    }

    private void byPeers() {
        Set<String> ofTheJob = new HashSet<>();
        ranks.forEach(rank -> ofTheJob.add(rank.node()));
        Map<String, Case> cases = new LinkedHashMap<>();
        for (Witness witness : ranks) {
            for (Accusation word : witness.words()) {
                String node = counts(witness, word) && blamesPeer(word) ? book.node(word.getPeer()) : null;
                // That a rank names its own node tells of its path to itself, and an outsider is no suspect of this
                // job.
                if (node == null || node.equals(witness.node()) || !ofTheJob.contains(node)) {
                    continue;
                }
                Case one = cases.computeIfAbsent(node, ignored -> new Case());
                one.accusers.add(witness.rank());
                one.peers.merge(word.getPeer(), 1, Integer::sum);
                one.errors.merge(words(word), 1, Integer::sum);
            }
        }
        cases.forEach((node, one) -> {
            int count = one.accusers.size();
            String peer = most(one.peers);
            String who = peer.equalsIgnoreCase(node) ? node : node + " (" + peer + ")";
            accused.add(new Accused(
                    node,
                    null,
                    count,
                    Math.min(MOST_POINTS, count),
                    count + " of " + ranks.size() + (count == 1 ? " ranks names " : " ranks name ") + who
                            + " as the peer that does not answer: " + most(one.errors)));
        });
    }

    private void byThemselves() {
        Map<Witness, Accusation> own = new LinkedHashMap<>();
        for (Witness witness : ranks) {
            for (Accusation word : witness.words()) {
                if (counts(witness, word) && blamesItself(word)) {
                    own.putIfAbsent(witness, word);
                }
            }
        }
        if (own.size() > Math.max(1, ranks.size() / 2)) {
            return; // a common cause
        }
        own.forEach((witness, word) -> accused.add(new Accused(
                witness.node(),
                witness.rank(),
                1,
                OWN_ERROR_POINTS,
                "rank " + witness.rank() + " on " + witness.node() + " reports of itself: " + words(word))));
    }

    private void byDesync() {
        Map<Integer, Set<Integer>> reporters = new TreeMap<>();
        for (Witness witness : ranks) {
            for (Accusation word : witness.words()) {
                boolean desync = word.getKind() == NcclKind.NCCL_KIND_DESYNC && counts(witness, word);
                // All ranks in one and the same collective: nobody is behind, the transport is.
                if (desync && word.getRanksCount() <= ranks.size() / 2) {
                    word.getRanksList()
                            .forEach(rank -> reporters
                                    .computeIfAbsent(rank, ignored -> new TreeSet<>())
                                    .add(witness.rank()));
                }
            }
        }
        if (reporters.size() > ranks.size() / 2) {
            return;
        }
        for (Witness witness : ranks) {
            Set<Integer> by = reporters.getOrDefault(witness.rank(), Set.of());
            if (!by.isEmpty()) {
                accused.add(new Accused(
                        witness.node(),
                        witness.rank(),
                        by.size(),
                        DESYNC_POINTS,
                        "PyTorch's desync report of " + by.size() + (by.size() == 1 ? " rank" : " ranks")
                                + " names rank " + witness.rank() + " on " + witness.node()
                                + " as the one that is behind"));
            }
        }
    }

    private static boolean blamesPeer(Accusation word) {
        return switch (word.getKind()) {
            case NCCL_KIND_PEER_LOST, NCCL_KIND_CONNECTION_CLOSED -> true;
            case NCCL_KIND_COMPLETION -> !local(word.getCode()) && word.getCode() != 5;
            default -> false;
        };
    }

    private static boolean blamesItself(Accusation word) {
        return switch (word.getKind()) {
            case NCCL_KIND_COMPLETION -> local(word.getCode());
            // ibv_event_type: errors of queues, of the device, of the port.
            case NCCL_KIND_ASYNC_EVENT -> Set.of(0, 1, 2, 3, 8, 10, 14).contains(word.getCode());
            // 1: a call of CUDA failed. 2 and 3 may well follow from a peer's death.
            case NCCL_KIND_LOCAL_ERROR -> word.getCode() == 1;
            default -> false;
        };
    }

    /** ibv_wc_status whose cause is on the side that says it: length, queue, protection, binding, access, fatal. */
    private static boolean local(int status) {
        return status == 1 || status == 2 || status == 4 || status == 6 || status == 8 || status == 19;
    }

    private static String words(Accusation word) {
        return switch (word.getKind()) {
            case NCCL_KIND_COMPLETION ->
                "NCCL completion error " + word.getCode() + " (" + status(word.getCode()) + ")";
            case NCCL_KIND_CONNECTION_CLOSED -> "NCCL says that it closed the connection";
            case NCCL_KIND_PEER_LOST ->
                "NCCL cannot reach it" + (word.getCode() == 0 ? "" : " (errno " + word.getCode() + ")");
            case NCCL_KIND_ASYNC_EVENT -> "NCCL async event " + word.getCode() + " (" + event(word.getCode()) + ")";
            case NCCL_KIND_LOCAL_ERROR -> "NCCL error " + word.getCode() + " (a call of CUDA failed)";
            default -> "an NCCL error";
        };
    }

    private static String status(int code) {
        return switch (code) {
            case 1 -> "local length error";
            case 2 -> "local queue error";
            case 4 -> "local protection error";
            case 6 -> "memory window error";
            case 7 -> "bad response";
            case 8 -> "local access error";
            case 9 -> "the peer rejected the request";
            case 10 -> "no access to the peer's memory";
            case 11 -> "the peer could not complete it";
            case 12 -> "no answer after all retries";
            case 13 -> "the peer is there and takes nothing";
            case 19 -> "fatal error of the device";
            case 20 -> "no response in time";
            default -> "ibv_wc_status";
        };
    }

    private static String event(int code) {
        return switch (code) {
            case 8 -> "its RDMA device failed";
            case 10 -> "port error";
            default -> "local queue error";
        };
    }

    private static String most(Map<String, Integer> counts) {
        return counts.entrySet().stream()
                .max(Map.Entry.<String, Integer>comparingByValue()
                        .thenComparing(Map.Entry.comparingByKey(Comparator.reverseOrder())))
                .map(Map.Entry::getKey)
                .orElse("");
    }
}
