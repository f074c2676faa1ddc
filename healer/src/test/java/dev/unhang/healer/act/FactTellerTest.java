package dev.unhang.healer.act;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.healer.act.SchedulerException.Kind;
import dev.unhang.healer.act.SchedulerView.Node;
import dev.unhang.healer.act.SchedulerView.NodeState;
import dev.unhang.healer.command.Action;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FactTellerTest {

    private final ReentrantLock changes = new ReentrantLock();
    private final List<String> happened = new ArrayList<>();
    private @Nullable SchedulerException fails;

    private final FactTeller teller = new FactTeller(new Asked(), new Written(), changes);

    @Test
    void fromTheViewUntilItIsWrittenNothingMayChange() {
        teller.turn(0);
        assertThat(happened).containsExactly("view locked", "say UP locked", "settle locked");
        assertThat(changes.isLocked()).isFalse();
    }

    @Test
    void silenceIsToldOnceAndHoldsNothing() {
        fails = new SchedulerException(Kind.UNREACHABLE, "slurm does not answer");
        teller.turn(0);
        teller.turn(1);
        assertThat(happened)
                .containsExactly("view locked", "say UNKNOWN locked", "settle locked", "view locked", "settle locked");
        assertThat(changes.isLocked()).isFalse();
    }

    private void happens(String what) {
        happened.add(what + (changes.isHeldByCurrentThread() ? " locked" : ""));
    }

    private final class Written implements Inbox {
        @Override
        public boolean say(Message message) {
            happens("say " + ((SchedulerFact) message).getNodeState());
            return true;
        }

        @Override
        public void settle() {
            happens("settle");
        }
    }

    private final class Asked implements Scheduler {
        @Override
        public String name() {
            return "slurm";
        }

        @Override
        public SchedulerView view() throws SchedulerException {
            happens("view");
            SchedulerException now = fails;
            if (now != null) {
                throw now;
            }
            return new SchedulerView(List.of(), List.of(new Node("node-1", NodeState.UP, "idle", "", "")));
        }

        @Override
        public void check(Action action, Map<String, String> parameters) {}

        @Override
        public String run(Action action, Map<String, String> parameters) {
            return "";
        }
    }
}
