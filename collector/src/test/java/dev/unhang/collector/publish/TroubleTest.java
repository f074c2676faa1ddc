package dev.unhang.collector.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class TroubleTest {

    private final Trouble trouble =
            new Trouble(LoggerFactory.getLogger("test"), "broker:9092", () -> new Backlog.Level(1, 2, 3));

    @Test
    void aBrokerThatIsAwayIsToldAtOnceAndThenOnceAMinute() {
        assertThat(tell(0)).isTrue();
        assertThat(tell(1)).isFalse();
        assertThat(tell(59)).isFalse();
        assertThat(tell(60)).isTrue();
        assertThat(tell(61)).isFalse();
        assertThat(tell(120)).isTrue();
    }

    @Test
    void aNewTroubleIsToldAtOnceAgain() {
        tell(0);
        trouble.over(TimeUnit.SECONDS.toNanos(5));
        assertThat(trouble.now()).isFalse();

        assertThat(tell(6)).isTrue();
        assertThat(trouble.now()).isTrue();
    }

    private boolean tell(long second) {
        return trouble.tell("no answer", TimeUnit.SECONDS.toNanos(second));
    }
}
