package dev.unhang.healer.detect.node;

import dev.unhang.events.v1.Accusation;
import dev.unhang.events.v1.NcclEvent;
import dev.unhang.events.v1.NcclKind;
import java.util.ArrayList;
import java.util.List;

/**
 * What one rank's own NCCL and PyTorch log said last: whom it names, and what broke on its own side. Equal words are one
 * with a count; the eldest go first, and all after ten minutes of node time. Confined to its partition's thread.
 */
final class NcclWords {

    static final int MOST = 4;
    static final long KEPT_MS = 600_000;

    private static final class Word {
        final NcclEvent said;
        long count;
        long atMs;

        Word(NcclEvent said) {
            this.said = said;
        }
    }

    private final List<Word> words = new ArrayList<>(0);

    void add(NcclEvent event, Now now) {
        if (!tells(event)) {
            return;
        }
        Word word = null;
        for (Word known : words) {
            if (same(known.said, event)) {
                word = known;
            }
        }
        if (word == null) {
            word = new Word(event);
        } else {
            words.remove(word);
        }
        word.count += Math.max(1, event.getCount());
        word.atMs = now.nodeMs();
        words.add(word);
        if (words.size() > MOST) {
            words.remove(0);
        }
    }

    /** What is a fact of the job as a whole, or a mere consequence, weighs against nobody. */
    private static boolean tells(NcclEvent event) {
        return switch (event.getKind()) {
            case NCCL_KIND_PEER_LOST, NCCL_KIND_CONNECTION_CLOSED, NCCL_KIND_ASYNC_EVENT -> true;
            // 1: a call of CUDA failed. Other results follow from a peer's end as often as not.
            case NCCL_KIND_LOCAL_ERROR -> event.getCode() == 1;
            // A flushed request (5) follows from an error before it.
            case NCCL_KIND_COMPLETION -> event.getCode() != 5;
            case NCCL_KIND_DESYNC -> !event.getOtherGroup() && event.getRanksCount() > 0;
            default -> false;
        };
    }

    private static boolean same(NcclEvent a, NcclEvent b) {
        return a.getKind() == b.getKind()
                && a.getCode() == b.getCode()
                && a.getPeer().equals(b.getPeer())
                && a.getRanksList().equals(b.getRanksList());
    }

    /** Changes when something new is said. */
    int picture() {
        int hash = words.size();
        for (Word word : words) {
            hash = 31 * hash + word.said.getKindValue();
        }
        return hash;
    }

    List<Accusation> report(Now now) {
        if (words.isEmpty()) {
            return List.of();
        }
        words.removeIf(word -> now.nodeMs() - word.atMs > KEPT_MS);
        List<Accusation> report = new ArrayList<>(words.size());
        for (Word word : words) {
            NcclEvent said = word.said;
            report.add(Accusation.newBuilder()
                    .setPeer(said.getPeer())
                    .addAllRanks(said.getKind() == NcclKind.NCCL_KIND_DESYNC ? said.getRanksList() : List.of())
                    .setKind(said.getKind())
                    .setCode(said.getCode())
                    .setAgeMs((int) Math.max(0, now.nodeMs() - word.atMs))
                    .setCount((int) Math.min(Integer.MAX_VALUE, word.count))
                    .build());
        }
        return report;
    }
}
