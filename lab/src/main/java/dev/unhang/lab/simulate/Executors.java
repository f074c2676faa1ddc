package dev.unhang.lab.simulate;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.unhang.events.v1.Offer;
import dev.unhang.healer.actuator.protocol.Protocol;
import dev.unhang.healer.actuator.protocol.Self;
import dev.unhang.healer.command.Action;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** The actuators of all nodes and the executor beside the healer, each a process that can be started anew. Confined to one thread. */
final class Executors {

    private final Agenda agenda;
    private final Chance chance;
    private final Trail trail;
    private final SimulatedKafka kafka;
    private final World world;
    private final Claims claims;
    private final Map<String, PublicKey> keys;
    private final Plant plant;
    private final IntSupplier journalEnd;
    private final Map<String, Hand> hands = new LinkedHashMap<>();
    private int starts;
    private boolean quiet;

    Executors(
            Agenda agenda,
            Chance chance,
            Trail trail,
            SimulatedKafka kafka,
            World world,
            Claims claims,
            Map<String, PublicKey> keys,
            Plant plant,
            IntSupplier journalEnd) {
        this.agenda = agenda;
        this.chance = chance;
        this.trail = trail;
        this.kafka = kafka;
        this.world = world;
        this.claims = claims;
        this.keys = keys;
        this.plant = plant;
        this.journalEnd = journalEnd;
        kafka.commands.wake(this::dispatch);
        world.watchNodes(this::died, this::booted);
        world.machines.forEach(machine -> start(machine.name));
        start(Action.AT_SCHEDULER);
    }

    private void dispatch() {
        SimulatedKafka.Appended record = kafka.commands.at(kafka.commands.end() - 1);
        Hand hand = hands.get(record.key());
        Message message = record.message();
        if (hand != null && message != null) {
            hand.read(message);
        }
    }

    private void start(String name) {
        Machine machine = world.machine(name);
        ByteString bootId = machine == null ? ByteString.EMPTY : machine.bootId;
        String startId = name + "#" + ++starts;
        EnumSet<Action> allowed = EnumSet.noneOf(Action.class);
        for (Action action : Action.values()) {
            if (action.atScheduler() == name.equals(Action.AT_SCHEDULER)) {
                allowed.add(action);
            }
        }
        Protocol protocol = new Protocol(new Self(name, bootId, startId, "0"), allowed, keys, () -> chance.bytes(16));
        hands.put(
                name,
                new Hand(
                        name,
                        startId,
                        agenda,
                        chance,
                        trail,
                        world,
                        claims,
                        protocol,
                        plant,
                        offer -> refuses(name, offer),
                        journalEnd,
                        message -> say(machine, message),
                        kafka));
    }

    private void say(@Nullable Machine machine, Message message) {
        if (machine == null) {
            kafka.inbox.append("", message);
        } else {
            kafka.telemetry.get(machine.partition).append(machine.name, message);
        }
    }

    /** What the real ones read anew before they claim and before they begin. */
    private Optional<String> refuses(String name, Offer offer) {
        if (!name.equals(Action.AT_SCHEDULER)) {
            return Optional.empty();
        }
        String node = offer.getParametersOrDefault("node", "");
        World.Drained drained = world.drained.get(node);
        if (offer.getAction().equals(Action.DRAIN.label()) && drained != null) {
            return Optional.of(node + " is drained already: " + drained.reason());
        }
        boolean ours = drained != null && drained.reason().equals(offer.getParametersOrDefault("reason", "-"));
        if (offer.getAction().equals(Action.UNDRAIN.label()) && !ours && plant != Plant.UNDRAINS_ALL) {
            return Optional.of(node + " is not drained with this reason");
        }
        return Optional.empty();
    }

    /** Its node is off. */
    private void died(Machine machine) {
        Objects.requireNonNull(hands.get(machine.name)).die();
    }

    /** Its node has come up. */
    private void booted(Machine machine) {
        died(machine);
        start(machine.name);
    }

    /** An actuator dies, mostly one that is at work, and is started again. */
    void crashOne() {
        List<String> busy = new ArrayList<>();
        world.running().forEach(attempt -> busy.add(attempt.node));
        String name = !busy.isEmpty() && chance.perMille(700)
                ? chance.of(busy)
                : chance.perMille(200) ? Action.AT_SCHEDULER : chance.of(world.machines).name;
        Hand hand = Objects.requireNonNull(hands.get(name));
        if (!hand.alive()) {
            return;
        }
        trail.note("the actuator of " + name + " dies");
        hand.die();
        agenda.after(chance.seconds(1, quiet ? 2 : 20), () -> restart(name));
    }

    private void restart(String name) {
        Machine machine = world.machine(name);
        boolean up = machine == null || !machine.dead;
        if (up && !Objects.requireNonNull(hands.get(name)).alive()) {
            start(name);
        }
    }

    void pauseOne() {
        List<String> busy = new ArrayList<>();
        world.running().forEach(attempt -> busy.add(attempt.node));
        String name =
                !busy.isEmpty() && chance.perMille(300) ? chance.of(busy) : chance.of(List.copyOf(hands.keySet()));
        Objects.requireNonNull(hands.get(name)).pause(chance.seconds(1, 12));
    }

    /** What it does never ends by itself. */
    void restartScheduler() {
        Objects.requireNonNull(hands.get(Action.AT_SCHEDULER)).die();
        start(Action.AT_SCHEDULER);
    }

    void quiet() {
        quiet = true;
        for (String name : List.copyOf(hands.keySet())) {
            restart(name);
        }
    }
}
