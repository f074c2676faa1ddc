package dev.unhang.lab.simulate;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.SignedGrant;
import dev.unhang.healer.actuator.protocol.Effect;
import dev.unhang.healer.actuator.protocol.Protocol;
import dev.unhang.healer.command.Action;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One process that acts: a node's actuator or the executor beside the healer. The real protocol decides; this reads for
 * it, with delays, tells for it, and begins and ends things in the world. It starts at the end of the command topic, and
 * dies with all that it does. Confined to one thread.
 */
final class Hand {

    private static final long HELLO_NS = 300 * Agenda.SECOND;

    private final String name;
    private final String startId;
    private final Agenda agenda;
    private final Chance chance;
    private final Trail trail;
    private final World world;
    private final Claims claims;
    private final Protocol protocol;
    private final Plant plant;
    private final Function<Offer, Optional<String>> refuses;
    private final IntSupplier journalEnd;
    private final Consumer<Message> out;
    private final SimulatedKafka kafka;
    private final Deque<Message> in = new ArrayDeque<>();
    private final Deque<Message> backlog = new ArrayDeque<>();
    private final Map<String, Offer> offers = new HashMap<>();
    private boolean alive = true;
    private boolean pollDue;
    private boolean ticks;
    private long pausedUntilNs;
    private @Nullable Grant lastGrant;

    /**
     * Begins at the end of the command topic.
     *
     * @param refuses why what an offer needs does not hold
     * @param out writes to where this one's words go; called while a broker answers
     */
    Hand(
            String name,
            String startId,
            Agenda agenda,
            Chance chance,
            Trail trail,
            World world,
            Claims claims,
            Protocol protocol,
            Plant plant,
            Function<Offer, Optional<String>> refuses,
            IntSupplier journalEnd,
            Consumer<Message> out,
            SimulatedKafka kafka) {
        this.name = name;
        this.startId = startId;
        this.agenda = agenda;
        this.chance = chance;
        this.trail = trail;
        this.world = world;
        this.claims = claims;
        this.protocol = protocol;
        this.plant = plant;
        this.refuses = refuses;
        this.journalEnd = journalEnd;
        this.out = out;
        this.kafka = kafka;
        agenda.after(chance.seconds(0.1, 3), this::hello);
    }

    boolean alive() {
        return alive;
    }

    void die() {
        alive = false;
        in.clear();
        backlog.clear();
        world.kill(name);
    }

    void pause(long ns) {
        pausedUntilNs = agenda.nowNs() + ns;
        trail.note("the actuator of " + name + " stands still for " + ns / Agenda.MS + " ms");
    }

    private void hello() {
        if (alive) {
            tell(protocol.hello());
            agenda.after(HELLO_NS, this::hello);
        }
    }

    void read(Message message) {
        if (alive) {
            in.add(message);
            wake();
        }
    }

    private void wake() {
        if (!pollDue) {
            pollDue = true;
            agenda.after(chance.perMille(30) ? chance.seconds(1, 7) : chance.seconds(0.005, 0.3), this::poll);
        }
    }

    private void poll() {
        pollDue = false;
        if (!alive) {
            return;
        }
        if (agenda.nowNs() < pausedUntilNs) {
            pollDue = true;
            agenda.after(pausedUntilNs - agenda.nowNs(), this::poll);
            return;
        }
        while (!in.isEmpty() && alive) {
            Message message = in.removeFirst();
            if (plant == Plant.OBEYS_ANY_GRANT) {
                obey(message);
            }
            if (message instanceof SignedGrant sealed) {
                lastGrant = parsed(sealed);
            }
            perform(protocol.onRecord(message, agenda.nowNs()));
            genuine(message);
            tick();
        }
    }

    /** After it was judged: an older epoch must not come after it. */
    private void genuine(Message message) {
        if (message instanceof SignedGrant sealed) {
            Grant grant = parsed(sealed);
            if (grant != null
                    && grant.getNode().equals(name)
                    && claims.granted(grant.getCommandId(), grant.getNonce(), grant.getEpoch())) {
                claims.read(startId, grant.getEpoch());
            }
        }
    }

    private static @Nullable Grant parsed(SignedGrant sealed) {
        try {
            return Grant.parseFrom(sealed.getGrant());
        } catch (InvalidProtocolBufferException e) {
            return null;
        }
    }

    private void obey(Message message) {
        if (message instanceof Offer offer) {
            offers.put(offer.getCommandId(), offer);
        } else if (message instanceof SignedGrant sealed) {
            Grant grant = parsed(sealed);
            Offer offer = grant == null ? null : offers.get(grant.getCommandId());
            if (grant != null && offer != null) {
                begin(offer, grant);
            }
        }
    }

    private void perform(List<Effect> effects) {
        for (Effect effect : effects) {
            if (effect instanceof Effect.Tell told) {
                tell(told.message());
            } else if (effect instanceof Effect.Ask ask) {
                agenda.after(chance.seconds(0.005, chance.perMille(50) ? 6 : 0.3), () -> answer(ask.offer()));
            } else if (effect instanceof Effect.Begin begun) {
                Grant grant = lastGrant;
                if (grant != null) {
                    agenda.after(
                            chance.seconds(0.001, chance.perMille(50) ? 6 : 0.05), () -> beginInTime(begun, grant));
                }
            }
        }
    }

    private void answer(Offer offer) {
        if (alive) {
            perform(protocol.onAnswer(offer.getCommandId(), refuses.apply(offer), agenda.nowNs()));
            tick();
        }
    }

    /** A machine may stand still between the decision to begin and the beginning. */
    private void beginInTime(Effect.Begin begun, Grant grant) {
        if (!alive) {
            return;
        }
        if (agenda.nowNs() < pausedUntilNs) {
            agenda.after(pausedUntilNs - agenda.nowNs(), () -> beginInTime(begun, grant));
            return;
        }
        Optional<String> refusal =
                agenda.nowNs() > begun.latestNs() ? Optional.of("too late") : refuses.apply(begun.offer());
        if (refusal.isPresent()) {
            String command = begun.offer().getCommandId();
            perform(protocol.onEnded(command, ActionEnd.ACTION_REFUSED, refusal.get(), agenda.nowNs()));
        } else {
            begin(begun.offer(), grant);
        }
    }

    private void begin(Offer offer, Grant grant) {
        Action action = Action.named(offer.getAction()).orElseThrow();
        String command = offer.getCommandId();
        world.start(
                command,
                name,
                action,
                offer.getParametersMap(),
                startId,
                grant.getNonce(),
                grant.getEpoch(),
                journalEnd.getAsInt(),
                this::over);
        if (plant == Plant.ENDS_TOO_EARLY) {
            perform(protocol.onEnded(command, ActionEnd.ACTION_DONE, "", agenda.nowNs()));
        }
    }

    private void over(Attempt attempt) {
        if (alive && plant != Plant.ENDS_TOO_EARLY) {
            ActionEnd end = switch (attempt.end == null ? Attempt.End.KILLED : attempt.end) {
                case DONE -> ActionEnd.ACTION_DONE;
                case FAILED -> ActionEnd.ACTION_FAILED;
                case KILLED -> ActionEnd.ACTION_INTERRUPTED;
            };
            perform(protocol.onEnded(attempt.command, end, "", agenda.nowNs()));
        }
    }

    /** Ticks each second for as long as a command is at work here. */
    private void tick() {
        if (!ticks && alive && protocol.busyWith().isPresent()) {
            ticks = true;
            agenda.after(Agenda.SECOND, () -> {
                ticks = false;
                if (alive && agenda.nowNs() >= pausedUntilNs) {
                    perform(protocol.onTick(agenda.nowNs()));
                }
                tick();
            });
        }
    }

    private void tell(Message message) {
        if (message instanceof Claim claim) {
            ByteString nonce = claim.getNonce();
            claims.made(nonce, new Claims.Made(claim.getCommandId(), claim.getNode(), startId, agenda.nowNs()));
        }
        backlog.add(message);
        agenda.after(chance.seconds(0.001, 0.05), this::flush);
    }

    private void flush() {
        if (!alive || backlog.isEmpty()) {
            return;
        }
        if (!kafka.up()) {
            agenda.after(Agenda.SECOND, this::flush);
            return;
        }
        while (!backlog.isEmpty()) {
            out.accept(backlog.removeFirst());
        }
    }
}
