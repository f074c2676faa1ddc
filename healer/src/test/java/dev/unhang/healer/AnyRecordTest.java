package dev.unhang.healer;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.Codec;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Covered;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.Learned;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Origin;
import dev.unhang.events.v1.ProbeResult;
import dev.unhang.events.v1.Pulse;
import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.events.v1.Standing;
import dev.unhang.healer.decide.InboxCore;
import dev.unhang.healer.detect.node.PartitionDetector;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A record that can be read and makes no sense must not end the healer, for it would end every healer that comes after
 * it at the same offset. Nor may it keep the healer from what is said well beside it.
 */
class AnyRecordTest {

    private static final int RECORDS = 400;
    private static final long T0 = 1_800_000_000_000L;
    private static final Origin ORIGIN =
            Origin.newBuilder().setPartition(3).setGeneration(5).setOwner("h1").build();
    private static final List<Message> TELEMETRY = List.of(
            NodeSample.getDefaultInstance(),
            NodeSample.getDefaultInstance(),
            NodeSample.getDefaultInstance(),
            NodeEvent.getDefaultInstance(),
            NodeInventory.getDefaultInstance(),
            Learned.getDefaultInstance(),
            Pulse.getDefaultInstance(),
            ProbeResult.getDefaultInstance(),
            Claim.getDefaultInstance(),
            ActionResult.getDefaultInstance(),
            ActuatorHello.getDefaultInstance());
    private static final List<Message> INBOX = List.of(
            NodeReport.getDefaultInstance(),
            NodeReport.getDefaultInstance(),
            Finding.getDefaultInstance(),
            Finding.getDefaultInstance(),
            Covered.getDefaultInstance(),
            OperatorDecision.getDefaultInstance(),
            SchedulerFact.getDefaultInstance(),
            Pulse.getDefaultInstance(),
            Claim.getDefaultInstance());

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void noTelemetryRecordEndsADetectorOrHidesASilentNode(long seed) {
        AnyMessage any = new AnyMessage(seed);
        Random random = new Random(seed);
        PartitionDetector detector = new PartitionDetector(ORIGIN);
        List<Message> said = new ArrayList<>();
        long stampMs = T0;
        for (int i = 0; i < RECORDS; i++) {
            stampMs += random.nextInt(100);
            if (i < RECORDS / 2) {
                said.addAll(detector.onRecord("well", sample(i), stampMs));
            }
            Message drawn = read(any.like(TELEMETRY.get(random.nextInt(TELEMETRY.size()))));
            // What was learned of a node is believed: only owners write it, so here it is never of the node that is
            // well.
            said.addAll(detector.onRecord("n" + random.nextInt(3), drawn, stampMs));
            detector.learnedIfDue()
                    .ifPresent(learned -> assertThat(read(learned)).isEqualTo(learned));
            detector.standing().forEach(AnyRecordTest::read);
        }
        for (int i = 0; i < 20; i++) {
            stampMs += 1_000;
            said.addAll(detector.onRecord("", Pulse.getDefaultInstance(), stampMs));
        }
        assertThat(said)
                .filteredOn(Finding.class::isInstance)
                .extracting(Finding.class::cast)
                .filteredOn(finding -> finding.getStanding() == Standing.CONFIRMED)
                .extracting(Finding::getSubject)
                .contains("node:well");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void noInboxRecordEndsADeciderOrHidesAnIncident(long seed) {
        AnyMessage any = new AnyMessage(seed);
        Random random = new Random(seed);
        InboxCore core = new InboxCore();
        List<JournalEntry> journal = new ArrayList<>();
        long stampMs = T0;
        long offset = 0;
        for (int i = 0; i < RECORDS; i++) {
            stampMs += random.nextInt(500);
            Message drawn = read(any.like(INBOX.get(random.nextInt(INBOX.size()))));
            journal.addAll(core.onRecord(offset++, stampMs, drawn));
            core.position();
        }
        Finding finding = Finding.newBuilder()
                .setOrigin(Origin.newBuilder().setPartition(11).setGeneration(Long.MAX_VALUE))
                .setKind(IncidentKind.NIC_FAULT)
                .setSubject("nic:well/0000:01:00.0/0")
                .setStanding(Standing.CONFIRMED)
                .addNodes("well")
                .build();
        Covered covered = Covered.newBuilder().setOrigin(finding.getOrigin()).build();
        journal.addAll(core.onRecord(offset++, stampMs, covered));
        journal.addAll(core.onRecord(offset, stampMs, finding));
        assertThat(journal)
                .filteredOn(entry -> entry.getTo() == IncidentState.INCIDENT_CONFIRMED)
                .flatExtracting(JournalEntry::getChangesList)
                .extracting(change -> change.getValue().getIncident().getSubject())
                .contains("nic:well/0000:01:00.0/0");
        journal.forEach(AnyRecordTest::read);
    }

    @Test
    void whatNobodyCanReadMakesTimePass() {
        PartitionDetector detector = new PartitionDetector(ORIGIN);
        detector.onRecord("n1", sample(1), T0);
        assertThat(detector.onRecord("n1", null, T0 + 700)).isEmpty();
        assertThat(detector.onRecord("", null, T0 + 1_200)).isEmpty();
        assertThat(detector.logTimeMs()).isEqualTo(1_200);
        assertThat(detector.nodes()).isEqualTo(1);
    }

    private static NodeSample sample(int seq) {
        return NodeSample.newBuilder()
                .setBootId(ByteString.copyFrom(new byte[16]))
                .setCollectorStart(1)
                .setSeq(seq + 1)
                .setMonoNs((seq + 1) * 50_000_000L)
                .build();
    }

    /** As it comes from the log. */
    private static Message read(Message message) {
        Codec.Decoded decoded =
                Codec.decode(Codec.headers(message, "id", "/nodes/n1", Instant.EPOCH), message.toByteArray());
        return ((Codec.Decoded.Known) decoded).message();
    }
}
