package dev.unhang.healer.detect.node;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.Standing;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The findings on one node that stand, and when to say them: once when they arise, again when their standing or what
 * they rest on changed, and WELL once when it is over. What never stood is never said to be well.
 */
final class Findings {

    private record Said(Standing standing, String sameness, Finding finding) {}

    private final Origin origin;
    private final String node;
    private final Map<String, Said> said = new LinkedHashMap<>();

    Findings(Origin origin, String node) {
        this.origin = origin;
        this.node = node;
    }

    /** Adds to {@code out} what must be said. */
    void say(Verdict verdict, Now now, List<Message> out) {
        String key = key(verdict);
        Said before = said.get(key);
        if (verdict.standing() == Standing.WELL) {
            if (before != null) {
                said.remove(key);
                out.add(finding(verdict, now));
            }
            return;
        }
        Finding finding = finding(verdict, now);
        said.put(key, new Said(verdict.standing(), verdict.sameness(), finding));
        if (before == null
                || before.standing() != verdict.standing()
                || !before.sameness().equals(verdict.sameness())) {
            out.add(finding);
        }
    }

    boolean none() {
        return said.isEmpty();
    }

    /** Each finding that stands, as it was last seen. */
    List<Finding> standing() {
        List<Finding> all = new ArrayList<>(said.size());
        said.values().forEach(each -> all.add(each.finding()));
        return all;
    }

    private Finding finding(Verdict verdict, Now now) {
        return Finding.newBuilder()
                .setOrigin(origin)
                .setKind(verdict.kind())
                .setSubject(verdict.subject())
                .setStanding(verdict.standing())
                .setSeverity(verdict.severity())
                .setAgeMs(Math.max(0, verdict.ageMs()))
                .setStampMs(now.stampMs())
                .addAllSuspects(verdict.suspects())
                .addAllEvidence(verdict.evidence())
                .addNodes(node)
                .putAllFigures(verdict.figures())
                .build();
    }

    private static String key(Verdict verdict) {
        return verdict.kind() + "/" + verdict.subject();
    }
}
