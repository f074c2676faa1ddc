package dev.unhang.lab.simulate;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.SignedGrant;
import dev.unhang.healer.command.GrantSeal;
import java.security.PrivateKey;
import java.util.ArrayList;
import java.util.List;

/**
 * Whoever can write to the command topic and should not: says old records again, to whom they were and to others, forges
 * grants with a key of his own, and offers of his own making. Confined to one thread.
 */
final class Adversary {

    private final Chance chance;
    private final Trail trail;
    private final SimulatedKafka kafka;
    private final World world;
    private final PrivateKey ownKey;
    private final String trustedKeyId;

    Adversary(Chance chance, Trail trail, SimulatedKafka kafka, World world, PrivateKey ownKey, String trustedKeyId) {
        this.chance = chance;
        this.trail = trail;
        this.kafka = kafka;
        this.world = world;
        this.ownKey = ownKey;
        this.trustedKeyId = trustedKeyId;
    }

    void strike() {
        if (!kafka.up() || kafka.commands.end() == 0) {
            return;
        }
        List<SimulatedKafka.Appended> grants = new ArrayList<>();
        long from = Math.max(0, kafka.commands.end() - 50);
        for (long offset = from; offset < kafka.commands.end(); offset++) {
            SimulatedKafka.Appended record = kafka.commands.at(offset);
            if (record.message() instanceof SignedGrant) {
                grants.add(record);
            }
        }
        SimulatedKafka.Appended any = kafka.commands.at(chance.between((int) from, (int) kafka.commands.end() - 1));
        switch (chance.between(0, 3)) {
            case 0 -> again(any.key(), any.message());
            case 1 -> again(chance.of(world.machines).name, any.message());
            case 2 -> {
                if (!grants.isEmpty()) {
                    SimulatedKafka.Appended grant = chance.of(grants);
                    again(grant.key(), grant.message());
                }
            }
            default -> forge(any);
        }
    }

    private void again(String key, @org.jspecify.annotations.Nullable Message message) {
        trail.note("an old record is said again to " + key);
        kafka.commands.append(key, message);
    }

    private void forge(SimulatedKafka.Appended record) {
        if (record.message() instanceof Offer offer) {
            trail.note("a forged offer and grant to " + record.key());
            Offer own = offer.toBuilder()
                    .setCommandId("forged-" + chance.between(0, 999_999))
                    .build();
            kafka.commands.append(record.key(), own);
            Grant grant = Grant.newBuilder()
                    .setCommandId(own.getCommandId())
                    .setNode(own.getNode())
                    .setAction(own.getAction())
                    .setNonce(chance.bytes(16))
                    .setEpoch(own.getEpoch())
                    .build();
            kafka.commands.append(record.key(), GrantSeal.sign(grant, ownKey, trustedKeyId));
        }
    }
}
