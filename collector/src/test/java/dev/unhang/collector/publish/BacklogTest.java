package dev.unhang.collector.publish;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.collector.publish.Outgoing.Kind;
import dev.unhang.events.v1.NodeEvent;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BacklogTest {

    private static final long MANY = 1 << 20;

    private final Losses losses = new Losses();

    @Test
    void recordsLeaveInTheOrderInWhichTheyCame() throws InterruptedException {
        Backlog backlog = new Backlog(10, MANY, losses);
        add(backlog, Kind.SAMPLE, "s1");
        add(backlog, Kind.EVENT, "e1");
        add(backlog, Kind.INVENTORY, "i1");
        add(backlog, Kind.SAMPLE, "s2");

        assertThat(drain(backlog)).containsExactly("s1", "e1", "i1", "s2");
        assertThat(losses.all()).isEmpty();
    }

    @Test
    void aFullBacklogDropsItsOldestSamplesFirstThenInventoriesAndEventsLast() throws InterruptedException {
        Backlog backlog = new Backlog(4, MANY, losses);
        add(backlog, Kind.EVENT, "e1");
        add(backlog, Kind.SAMPLE, "s1");
        add(backlog, Kind.INVENTORY, "i1");
        add(backlog, Kind.SAMPLE, "s2");
        assertThat(losses.all()).isEmpty();

        add(backlog, Kind.EVENT, "e2");
        assertThat(losses.of("sample")).isEqualTo(1);
        add(backlog, Kind.EVENT, "e3");
        assertThat(losses.of("sample")).isEqualTo(2);
        add(backlog, Kind.EVENT, "e4");
        assertThat(losses.of("inventory")).isEqualTo(1);
        add(backlog, Kind.EVENT, "e5");
        assertThat(losses.of("event")).isEqualTo(1);

        assertThat(drain(backlog)).containsExactly("e2", "e3", "e4", "e5");
    }

    @Test
    void aSampleThatFindsOnlyEventsIsItselfTheOldestSample() throws InterruptedException {
        Backlog backlog = new Backlog(1, MANY, losses);
        add(backlog, Kind.EVENT, "e1");
        add(backlog, Kind.SAMPLE, "s1");

        assertThat(drain(backlog)).containsExactly("e1");
        assertThat(losses.of("sample")).isEqualTo(1);
    }

    @Test
    void bytesAreABoundOfTheirOwn() {
        Backlog backlog = new Backlog(1000, 3 * (100 + Backlog.OVERHEAD_BYTES), losses);
        for (int i = 0; i < 3; i++) {
            backlog.add(Kind.SAMPLE, "s" + i, sampleOf(100), Instant.EPOCH, 0);
        }
        assertThat(losses.of("sample")).isZero();

        backlog.add(Kind.SAMPLE, "s3", sampleOf(100), Instant.EPOCH, 0);

        assertThat(losses.of("sample")).isEqualTo(1);
        assertThat(backlog.level(0).records()).isEqualTo(3);
        assertThat(backlog.level(0).bytes()).isEqualTo(3 * (100 + Backlog.OVERHEAD_BYTES));
    }

    @Test
    void aDayWithoutABrokerKeepsItsBoundAndTheLastTenMinutes() throws InterruptedException {
        Backlog backlog = new Backlog(700, 2 << 20, losses);
        for (int second = 1; second <= 86_400; second++) {
            backlog.add(Kind.SAMPLE, "s" + second, sampleOf(1100), Instant.EPOCH, 0);
        }

        assertThat(backlog.level(0).records()).isEqualTo(700);
        assertThat(backlog.level(0).bytes()).isLessThanOrEqualTo(2 << 20);
        assertThat(losses.of("sample")).isEqualTo(86_400 - 700);
        assertThat(drain(backlog).get(0)).isEqualTo("s85701");
    }

    @Test
    void aRecordThatComesBackKeepsItsPlace() throws InterruptedException {
        Backlog backlog = new Backlog(10, MANY, losses);
        add(backlog, Kind.SAMPLE, "s1");
        add(backlog, Kind.SAMPLE, "s2");
        add(backlog, Kind.SAMPLE, "s3");
        Outgoing first = requireNonNull(backlog.take(0));
        Outgoing second = requireNonNull(backlog.take(0));

        backlog.giveBack(second);
        backlog.giveBack(first);

        assertThat(drain(backlog)).containsExactly("s1", "s2", "s3");
    }

    @Test
    void anOldSampleThatComesBackToAFullBacklogIsTheOneThatIsDropped() throws InterruptedException {
        Backlog backlog = new Backlog(2, MANY, losses);
        add(backlog, Kind.SAMPLE, "s1");
        Outgoing first = requireNonNull(backlog.take(0));
        add(backlog, Kind.SAMPLE, "s2");
        add(backlog, Kind.SAMPLE, "s3");

        backlog.giveBack(first);

        assertThat(drain(backlog)).containsExactly("s2", "s3");
        assertThat(losses.of("sample")).isEqualTo(1);
    }

    @Test
    void itsAgeIsThatOfTheOldestRecord() throws InterruptedException {
        Backlog backlog = new Backlog(10, MANY, losses);
        assertThat(backlog.level(5_000_000_000L).oldestMs()).isZero();
        backlog.add(Kind.SAMPLE, "s1", sampleOf(10), Instant.EPOCH, 1_000_000_000L);
        backlog.add(Kind.SAMPLE, "s2", sampleOf(10), Instant.EPOCH, 2_000_000_000L);

        assertThat(backlog.level(5_000_000_000L).oldestMs()).isEqualTo(4000);
        assertThat(backlog.take(0)).isNotNull();
        assertThat(backlog.level(5_000_000_000L).oldestMs()).isEqualTo(3000);
    }

    private static void add(Backlog backlog, Kind kind, String id) {
        Message message = switch (kind) {
            case SAMPLE -> NodeSample.getDefaultInstance();
            case INVENTORY -> NodeInventory.getDefaultInstance();
            case EVENT -> NodeEvent.getDefaultInstance();
        };
        backlog.add(kind, id, message, Instant.EPOCH, 0);
    }

    private static NodeSample sampleOf(int bytes) {
        NodeSample sample = NodeSample.newBuilder()
                .setBootId(ByteString.copyFrom(new byte[bytes < 130 ? bytes - 2 : bytes - 3]))
                .build();
        assertThat(sample.getSerializedSize()).isEqualTo(bytes);
        return sample;
    }

    private static List<String> drain(Backlog backlog) throws InterruptedException {
        List<String> ids = new ArrayList<>();
        Outgoing next = backlog.take(0);
        while (next != null) {
            ids.add(next.id());
            next = backlog.take(0);
        }
        return ids;
    }
}
