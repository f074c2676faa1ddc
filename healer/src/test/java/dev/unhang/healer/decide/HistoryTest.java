package dev.unhang.healer.decide;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.StateValue;
import dev.unhang.events.v1.Watch;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.incident.Transitions;
import dev.unhang.healer.ledger.Ledger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Seeded random histories of an inbox, and what must hold after each record of them. */
class HistoryTest {

    private static final int RECORDS = 3_000;
    private static final int PARTITIONS = 3;
    private static final IncidentKind[] KINDS = {
        IncidentKind.JOB_HANG,
        IncidentKind.JOB_SLOW,
        IncidentKind.NODE_SILENT,
        IncidentKind.NIC_FAULT,
        IncidentKind.GPU_FAULT,
        IncidentKind.DUPLICATE_NODE
    };

    private final Inbox inbox = new Inbox();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 20260101})
    void theJournalAppliedFromItsStartIsTheStateByteForByte(long seed) {
        Random random = new Random(seed);
        Ledger replayed = new Ledger();
        for (int i = 0; i < RECORDS; i++) {
            step(random).forEach(replayed::apply);
            if (i % 100 == 0) {
                assertThat(bytes(replayed)).as("seed %s, record %s", seed, i).isEqualTo(bytes(inbox.core.ledger()));
            }
        }
        assertThat(bytes(replayed)).as("seed %s", seed).isEqualTo(bytes(inbox.core.ledger()));
        assertThat(inbox.journal)
                .as("a history in which nothing happens shows nothing")
                .hasSizeGreaterThan(100);
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15, 20260102})
    void aDeciderThatIsReplacedAtAnyRecordGoesOnWithTheSameEntries(long seed) {
        Random random = new Random(seed);
        Random kills = new Random(seed + 1);
        Inbox undisturbed = new Inbox();
        int restarts = 0;
        for (int i = 0; i < RECORDS; i++) {
            List<JournalEntry> entries = step(random);
            Inbox.Appended last = inbox.log.get(inbox.log.size() - 1);
            for (int offset = undisturbed.log.size(); offset < inbox.log.size(); offset++) {
                Inbox.Appended record = inbox.log.get(offset);
                undisturbed.log.add(record);
                undisturbed.journal.addAll(
                        undisturbed.core.onRecord(record.offset(), record.stampMs(), record.message()));
            }
            assertThat(last.offset()).isEqualTo(undisturbed.log.size() - 1L);
            assertThat(withoutEpoch(inbox.journal.subList(inbox.journal.size() - entries.size(), inbox.journal.size())))
                    .as("seed %s, record %s, after %s restarts", seed, i, restarts)
                    .isEqualTo(withoutEpoch(undisturbed.journal.subList(
                            undisturbed.journal.size() - entries.size(), undisturbed.journal.size())));
            if (kills.nextInt(40) == 0) {
                inbox.core = inbox.restarted();
                restarts++;
            }
        }
        assertThat(withoutEpoch(inbox.journal)).isEqualTo(withoutEpoch(undisturbed.journal));
        assertThat(restarts).isGreaterThan(20);
        assertThat(inbox.core.epoch()).isEqualTo(1L + restarts);
    }

    @ParameterizedTest
    @ValueSource(longs = {21, 22, 23, 24, 25, 26, 20260103})
    void noSubjectHasTwoOpenIncidentsAndEachStepIsLegal(long seed) {
        Random random = new Random(seed);
        Map<String, IncidentState> states = new HashMap<>();
        Set<String> ended = new HashSet<>();
        for (int i = 0; i < RECORDS; i++) {
            for (JournalEntry entry : step(random)) {
                check(entry, states, ended, "seed " + seed + ", record " + i);
            }
            Set<String> slots = new HashSet<>();
            for (Incident incident : inbox.core.ledger().openIncidents()) {
                assertThat(slots.add(Kinds.slot(incident.getKind(), incident.getSubject())))
                        .as("seed %s, record %s: %s", seed, i, incident)
                        .isTrue();
                assertThat(incident.getState()).isNotEqualTo(IncidentState.INCIDENT_CONFIRMED);
            }
        }
        assertThat(ended).as("some incidents must end").isNotEmpty();
    }

    private static void check(JournalEntry entry, Map<String, IncidentState> states, Set<String> ended, String where) {
        String id = entry.getIncident();
        if (id.isEmpty() || entry.getChangesCount() == 0) {
            return;
        }
        assertThat(entry.getSentence()).as(where).isNotBlank();
        assertThat(states.getOrDefault(id, IncidentState.INCIDENT_STATE_NONE))
                .as(where)
                .isEqualTo(entry.getFrom());
        if (entry.getFrom() != entry.getTo()) {
            boolean person = !entry.getWho().isEmpty() && entry.getTo() == IncidentState.INCIDENT_DISMISSED;
            assertThat(person || Transitions.legal(entry.getFrom(), entry.getTo()))
                    .as("%s: %s to %s", where, entry.getFrom(), entry.getTo())
                    .isTrue();
            assertThat(ended).as(where).doesNotContain(id);
        }
        states.put(id, entry.getTo());
        if (!Transitions.open(entry.getTo())) {
            ended.add(id);
        }
    }

    private List<JournalEntry> step(Random random) {
        int partition = random.nextInt(PARTITIONS);
        int dice = random.nextInt(100);
        if (dice < 60) {
            boolean all = random.nextInt(20) > 0;
            return all ? inbox.seconds(1 + random.nextInt(3), 0, 1, 2) : inbox.seconds(1 + random.nextInt(9), 0);
        }
        if (dice < 70) {
            Watch watch = Watch.forNumber(1 + random.nextInt(3));
            return inbox.say(inbox.report(node(partition, random), partition, watch));
        }
        if (dice < 94) {
            return inbox.say(finding(partition, random));
        }
        if (dice < 96) {
            inbox.generation(random.nextInt(5) == 0 ? 1 : inbox.origin(0).getGeneration() + 1);
            return inbox.say(inbox.covered(partition, random.nextInt(3) * 3_000L, true));
        }
        return inbox.say(decision(partition, random));
    }

    private static String node(int partition, Random random) {
        return "n" + partition + random.nextInt(2);
    }

    private Finding finding(int partition, Random random) {
        String node = node(partition, random);
        IncidentKind kind = KINDS[random.nextInt(KINDS.length)];
        Standing standing = Standing.forNumber(1 + random.nextInt(3));
        if (Kinds.isJob(kind)) {
            return inbox.jobFinding(partition, kind, standing, node);
        }
        String subject = kind == IncidentKind.NIC_FAULT
                ? "nic:" + node + "/0000:01:00.0/0"
                : kind == IncidentKind.GPU_FAULT ? "gpu:GPU-" + node : "node:" + node;
        return inbox.finding(partition, kind, subject, standing, node).toBuilder()
                .setAgeMs(random.nextInt(9_000))
                .putFigures("figure", random.nextInt(3))
                .build();
    }

    private OperatorDecision decision(int partition, Random random) {
        String[] verbs = {"dismiss", "pause", "resume", "take", "give", "forget", "maintenance", "approve"};
        String verb = verbs[random.nextInt(verbs.length)];
        String target = node(partition, random);
        if (verb.equals("dismiss")) {
            target = inbox.core.ledger().openIncidents().stream()
                    .findFirst()
                    .map(Incident::getId)
                    .orElse("none");
        }
        return OperatorDecision.newBuilder()
                .setId("d" + random.nextInt(200))
                .setWho("ann")
                .setVerb(verb)
                .setTarget(target)
                .setForMs(random.nextInt(60_000))
                .build();
    }

    private static Map<String, List<Byte>> bytes(Ledger ledger) {
        Map<String, List<Byte>> bytes = new HashMap<>();
        for (Map.Entry<String, StateValue> entry : ledger.values().entrySet()) {
            List<Byte> value = new ArrayList<>();
            for (byte each : entry.getValue().toByteArray()) {
                value.add(each);
            }
            bytes.put(entry.getKey(), value);
        }
        return bytes;
    }

    private static List<Message> withoutEpoch(List<JournalEntry> entries) {
        List<Message> plain = new ArrayList<>();
        entries.forEach(entry -> plain.add(entry.toBuilder().clearEpoch().build()));
        return plain;
    }
}
