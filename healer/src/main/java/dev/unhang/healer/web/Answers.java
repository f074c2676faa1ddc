package dev.unhang.healer.web;

import dev.unhang.events.v1.JournalEntry;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the decider answered to people's decisions, by the decision's id, so that whoever asked can read it. The last
 * {@link #MOST} are kept. One thread adds, any thread reads.
 */
final class Answers {

    static final int MOST = 1_000;
    private static final int MOST_SENTENCES = 20;

    /** {@code refused}: nothing was changed, and the sentences say why. */
    record Answer(boolean refused, List<String> sentences) {
        Answer {
            sentences = List.copyOf(sentences);
        }
    }

    private final Map<String, Answer> byDecision = new ConcurrentHashMap<>();
    private final Set<String> oldestFirst = new LinkedHashSet<>();

    void add(JournalEntry entry) {
        String id = entry.getDecision();
        if (id.isEmpty()) {
            return;
        }
        Answer before = byDecision.get(id);
        List<String> sentences = before == null ? new ArrayList<>() : new ArrayList<>(before.sentences());
        if (sentences.size() < MOST_SENTENCES) {
            sentences.add(Timelines.shortened(entry.getSentence()));
        }
        byDecision.put(id, new Answer(entry.getRefused() || (before != null && before.refused()), sentences));
        if (oldestFirst.add(id) && oldestFirst.size() > MOST) {
            String oldest = oldestFirst.iterator().next();
            oldestFirst.remove(oldest);
            byDecision.remove(oldest);
        }
    }

    Optional<Answer> to(String decision) {
        return Optional.ofNullable(byDecision.get(decision));
    }

    void clear() {
        byDecision.clear();
        oldestFirst.clear();
    }
}
