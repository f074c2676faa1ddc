package dev.unhang.healer.actuator.protocol;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.healer.command.Action;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Words what an actuator says, and counts what it refuses. Confined to the protocol's thread. */
final class Answers {

    private final Self self;
    private final Map<Refusal, Long> counts = new EnumMap<>(Refusal.class);

    Answers(Self self) {
        this.self = self;
    }

    long count(Refusal refusal) {
        return counts.getOrDefault(refusal, 0L);
    }

    ActuatorHello hello(Set<Action> allowed) {
        return ActuatorHello.newBuilder()
                .setNode(self.node())
                .setBootId(self.bootId())
                .setStartId(self.startId())
                .setVersion(self.version())
                .addAllActions(allowed.stream().map(Action::label).toList())
                .build();
    }

    Effect claim(String command, ByteString nonce) {
        return new Effect.Tell(Claim.newBuilder()
                .setCommandId(command)
                .setNode(self.node())
                .setNonce(nonce)
                .setBootId(self.bootId())
                .setStartId(self.startId())
                .build());
    }

    Effect ended(String command, ActionEnd end, String detail, long tookNs) {
        return new Effect.Tell(ActionResult.newBuilder()
                .setCommandId(command)
                .setNode(self.node())
                .setEnd(end)
                .setDetail(detail)
                .setTookMs(tookNs / 1_000_000)
                .setStartId(self.startId())
                .setBootId(self.bootId())
                .build());
    }

    /** Counted, told to the log, and to who offered. {@code more} may be empty. */
    List<Effect> refused(Refusal refusal, String command, String more) {
        String sentence = refusal.told(more);
        counts.merge(refusal, 1L, Long::sum);
        return List.of(
                new Effect.Note(refusal, command, sentence), ended(command, ActionEnd.ACTION_REFUSED, sentence, 0));
    }

    /** Counted and told to the log alone. */
    List<Effect> noted(Refusal refusal, String command, String more) {
        counts.merge(refusal, 1L, Long::sum);
        return List.of(new Effect.Note(refusal, command, refusal.told(more)));
    }
}
