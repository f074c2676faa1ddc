package dev.unhang.healer.actuator.protocol;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.SignedGrant;
import dev.unhang.events.v1.Withdraw;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.GrantSeal;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one actuator, or one executor at {@code @scheduler}, makes of the commands that it reads. It knows one command at a
 * time: asked about, claimed, or running. Times are of its own monotonic clock in ns; what is to be done comes back as
 * values. Doubles and any order are harmless: a command is taken up once, and only a grant that bears the nonce of the open
 * claim begins it. Confined to one thread; no I/O, no clock, no chance but the nonces that it is handed.
 *
 * <pre>
 * free --offer--> asked --yes--> claimed --grant within 5 s--> running --end--> free
 *                   |no            |withdrawn, no grant, or one that does not fit
 *                   +-> free       +-> free
 * </pre>
 */
public final class Protocol {

    /** How long a claim may be granted. */
    static final long GRANT_WITHIN_NS = 5_000_000_000L;

    /** How long may be looked for what an offer needs: less than the 30 s after which it is withdrawn. */
    static final long ANSWER_WITHIN_NS = 20_000_000_000L;

    /** What has to be killed at the end of its time has this long to be gone, before its end is called unknown. */
    static final long KILL_WITHIN_NS = 10_000_000_000L;

    private static final int REMEMBERED = 4096;

    /** Where 16 fresh random bytes come from. */
    public interface Nonces {
        ByteString next();
    }

    private enum Phase {
        ASKED,
        CLAIMED,
        RUNNING
    }

    /** The one command; {@code told} when its end was reported before it ended. */
    private record Current(Offer offer, Phase phase, long sinceNs, ByteString nonce, boolean told) {

        String command() {
            return offer.getCommandId();
        }

        Current toldNow() {
            return new Current(offer, phase, sinceNs, nonce, true);
        }
    }

    private final Self self;
    private final Answers answers;
    private final Set<Action> allowed;
    private final Map<String, PublicKey> keys;
    private final Nonces nonces;
    private final Map<String, Boolean> seen = remembering();
    private final Map<ByteString, Refusal> spent = remembering();
    private @Nullable Current current;
    private boolean stopped;
    private long epoch;

    /**
     * Knows nothing yet.
     *
     * @param keys trusted public keys of deciders by id
     */
    public Protocol(Self self, Set<Action> allowed, Map<String, PublicKey> keys, Nonces nonces) {
        this.self = self;
        this.answers = new Answers(self);
        this.allowed = allowed.isEmpty() ? EnumSet.noneOf(Action.class) : EnumSet.copyOf(allowed);
        this.keys = Map.copyOf(keys);
        this.nonces = nonces;
    }

    /** What it says at its start and each five minutes. */
    public ActuatorHello hello() {
        return answers.hello(allowed);
    }

    /** The command that is at work here. */
    public Optional<String> busyWith() {
        return Optional.ofNullable(current).map(Current::command);
    }

    /** How often it refused for this reason since its start. */
    public long count(Refusal refusal) {
        return answers.count(refusal);
    }

    /** A record of the command topic whose key is this node; what is no command is passed over. */
    public List<Effect> onRecord(Message message, long nowNs) {
        if (message instanceof Offer offer) {
            return onOffer(offer, nowNs);
        }
        if (message instanceof SignedGrant sealed) {
            return onGrant(sealed, nowNs);
        }
        return message instanceof Withdraw withdraw ? onWithdraw(withdraw) : List.of();
    }

    private List<Effect> onOffer(Offer offer, long nowNs) {
        String command = offer.getCommandId();
        if (!offer.getNode().equals(self.node())) {
            return answers.noted(Refusal.WRONG_NODE, command, "'" + offer.getNode() + "'");
        }
        if (seen.putIfAbsent(command, true) != null) {
            return List.of(); // a double, or withdrawn before it was read
        }
        List<Effect> effects = new ArrayList<>(onTick(nowNs));
        effects.addAll(takeUp(offer, nowNs));
        return effects;
    }

    private List<Effect> takeUp(Offer offer, long nowNs) {
        String command = offer.getCommandId();
        if (current != null) {
            return answers.refused(Refusal.BUSY, command, current.command());
        }
        if (stopped) {
            return answers.refused(Refusal.LOCAL_STOP, command, "");
        }
        Optional<Reason> reason = Reason.against(offer, allowed);
        if (reason.isPresent()) {
            return answers.refused(reason.get().refusal(), command, reason.get().more());
        }
        current = new Current(offer, Phase.ASKED, nowNs, ByteString.EMPTY, false);
        return List.of(new Effect.Ask(offer));
    }

    /** Whether what the offer needs holds; {@code refusal} is a sentence that says what does not. */
    public List<Effect> onAnswer(String command, Optional<String> refusal, long nowNs) {
        Current asked = at(Phase.ASKED, command);
        if (asked == null) {
            return List.of();
        }
        current = null;
        if (asked.told()) {
            return List.of();
        }
        if (refusal.isPresent()) {
            return answers.refused(Refusal.PRECONDITION, command, refusal.get());
        }
        if (stopped) {
            return answers.refused(Refusal.LOCAL_STOP, command, "");
        }
        ByteString nonce = nonces.next();
        current = new Current(asked.offer(), Phase.CLAIMED, nowNs, nonce, false);
        return List.of(answers.claim(command, nonce));
    }

    private List<Effect> onWithdraw(Withdraw withdraw) {
        String command = withdraw.getCommandId();
        seen.put(command, true);
        Current now = current;
        if (now != null && now.command().equals(command)) {
            if (now.phase() == Phase.CLAIMED) {
                drop(now, Refusal.WITHDRAWN);
            } else if (now.phase() == Phase.ASKED) {
                current = now.toldNow(); // nobody waits for it; the question has no answer yet
            }
        }
        return List.of();
    }

    private List<Effect> onGrant(SignedGrant sealed, long nowNs) {
        Grant grant;
        try {
            grant = GrantSeal.open(sealed, keys);
        } catch (GrantSeal.BadSealException e) {
            return refused(Refusal.BAD_SEAL, commandOf(sealed), String.valueOf(e.getMessage()));
        }
        String command = grant.getCommandId();
        if (!grant.getNode().equals(self.node())) {
            return refused(Refusal.WRONG_NODE, command, "'" + grant.getNode() + "'");
        }
        long read = epoch;
        epoch = Long.compareUnsigned(grant.getEpoch(), read) > 0 ? grant.getEpoch() : read;
        Refusal before = spent.get(grant.getNonce());
        if (before != null) {
            return answers.noted(before, command, "");
        }
        Current claim = at(Phase.CLAIMED, command);
        long least = claim == null || Long.compareUnsigned(claim.offer().getEpoch(), read) < 0
                ? read
                : claim.offer().getEpoch();
        if (Long.compareUnsigned(grant.getEpoch(), least) < 0) {
            return refused(
                    Refusal.OLD_EPOCH,
                    command,
                    "its epoch is " + Long.toUnsignedString(grant.getEpoch()) + ", and " + Long.toUnsignedString(least)
                            + " was read");
        }
        if (claim == null) {
            return answers.noted(Refusal.UNKNOWN_COMMAND, command, "");
        }
        return onGrantOf(claim, grant, nowNs);
    }

    private List<Effect> onGrantOf(Current claim, Grant grant, long nowNs) {
        String command = claim.command();
        if (!grant.getNonce().equals(claim.nonce())) {
            drop(claim, Refusal.OTHERS_CLAIM); // a command is granted once: ours will not be
            return answers.noted(Refusal.OTHERS_CLAIM, command, "");
        }
        Optional<Reason> reason = Reason.against(grant, claim.offer(), nowNs - claim.sinceNs());
        if (reason.isPresent()) {
            return refused(reason.get().refusal(), command, reason.get().more());
        }
        if (stopped) {
            return refused(Refusal.LOCAL_STOP, command, "");
        }
        drop(claim, Refusal.USED_NONCE);
        current = new Current(claim.offer(), Phase.RUNNING, nowNs, claim.nonce(), false);
        return List.of(
                new Effect.Begin(claim.offer(), claim.sinceNs() + GRANT_WITHIN_NS, Reason.timeoutMs(claim.offer())));
    }

    /** What was begun has ended; of doubles the first counts. */
    public List<Effect> onEnded(String command, ActionEnd end, String detail, long nowNs) {
        Current run = at(Phase.RUNNING, command);
        if (run == null) {
            return List.of();
        }
        current = null;
        return List.of(answers.ended(command, end, detail, nowNs - run.sinceNs()));
    }

    /** Time passes; at least once a second. */
    public List<Effect> onTick(long nowNs) {
        Current now = current;
        if (now == null || now.told()) {
            return List.of();
        }
        long age = nowNs - now.sinceNs();
        return switch (now.phase()) {
            case ASKED -> {
                if (age <= ANSWER_WITHIN_NS) {
                    yield List.of();
                }
                current = now.toldNow();
                yield answers.refused(Refusal.NO_ANSWER, now.command(), "");
            }
            case CLAIMED -> {
                if (age <= GRANT_WITHIN_NS) {
                    yield List.of();
                }
                drop(now, Refusal.LATE_GRANT);
                yield answers.refused(Refusal.NO_GRANT, now.command(), "");
            }
            case RUNNING -> {
                long timeoutMs = Reason.timeoutMs(now.offer());
                if (age < timeoutMs * 1_000_000 + KILL_WITHIN_NS) {
                    yield List.of();
                }
                current = now.toldNow();
                yield List.of(answers.ended(
                        now.command(),
                        ActionEnd.ACTION_TIMED_OUT,
                        now.offer().getAction() + " had " + timeoutMs
                                + " ms and has not ended yet: it may still be running",
                        age));
            }
        };
    }

    /** The node's own stop came or went. What runs goes on, since a repair that is left half way is worse. */
    public List<Effect> onLocalStop(boolean stop) {
        stopped = stop;
        Current now = current;
        if (!stop || now == null || now.phase() != Phase.CLAIMED) {
            return List.of();
        }
        return refused(Refusal.LOCAL_STOP, now.command(), "");
    }

    private static <K, V> Map<K, V> remembering() {
        return new LinkedHashMap<>() {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > REMEMBERED;
            }
        };
    }

    private @Nullable Current at(Phase phase, String command) {
        Current now = current;
        return now != null && now.phase() == phase && now.command().equals(command) ? now : null;
    }

    private void drop(Current claim, Refusal later) {
        spent.put(claim.nonce(), later);
        current = null;
    }

    /** Reported when it ends our open claim, since who granted waits for an answer; else only told here. */
    private List<Effect> refused(Refusal refusal, String command, String more) {
        Current claim = at(Phase.CLAIMED, command);
        if (claim == null) {
            return answers.noted(refusal, command, more);
        }
        drop(claim, refusal);
        return answers.refused(refusal, command, more);
    }

    /** What a grant says whose seal does not hold; believed only so far that our claim is not worth more. */
    private static String commandOf(SignedGrant sealed) {
        try {
            return Grant.parseFrom(sealed.getGrant()).getCommandId();
        } catch (InvalidProtocolBufferException e) {
            return "";
        }
    }
}
