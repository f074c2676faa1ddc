package dev.unhang.healer;

import dev.unhang.healer.command.GrantSeal;
import dev.unhang.healer.intake.Brokers;
import dev.unhang.healer.intake.Orders;
import dev.unhang.healer.journal.Seal;
import dev.unhang.healer.policy.BadPlaybooksException;
import dev.unhang.healer.policy.PlaybookText;
import dev.unhang.healer.policy.Policy;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Kafka;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * The healer's settings, as read from one YAML file. Every mistake is told at once, with its line.
 *
 * @param id of this healer among all: unique, and new with each start unless it is set
 * @param brokers where Kafka is
 * @param judges whether this healer takes telemetry partitions
 * @param decides whether it stands by as a decider
 * @param orders what it may do, and the key to sign that with
 */
public record HealerConfig(String id, Brokers brokers, boolean judges, boolean decides, Orders orders) {

    /** One that only watches. */
    public HealerConfig(String id, Brokers brokers, boolean judges, boolean decides) {
        this(id, brokers, judges, decides, Orders.NONE);
    }

    /**
     * Asks for the healer's own keys. The caller asks for those of HTTP too and then calls {@link Settings#finish}.
     *
     * @param defaultId host name and something random
     */
    public static HealerConfig from(Settings settings, String defaultId) {
        String id = settings.text(
                "healer.id",
                "",
                "Name of this healer among all that share a Kafka. The host name with something random when left out.");
        if (!id.matches("[A-Za-z0-9._-]{0,100}")) {
            settings.mistake(
                    "healer.id",
                    "healer.id is '" + id + "' and may hold letters, digits, dots, dashes and underscores");
        }
        return new HealerConfig(
                id.isEmpty() ? defaultId : id,
                new Brokers(Kafka.from(settings, true)),
                settings.flag("roles.telemetry", true, "Whether this healer judges nodes: takes telemetry partitions."),
                settings.flag(
                        "roles.decider",
                        true,
                        "Whether this healer may decide. One of those that may does; the others stand by."),
                orders(settings));
    }

    private static Orders orders(Settings settings) {
        String playbooks = settings.optionalText(
                "policy.playbooks-file",
                "YAML file with playbooks, modes and limits of your own; see `unhang playbooks explain`. Without it"
                        + " nothing is ever done: what is shipped only observes. All healers need the same.");
        String key = settings.optionalText(
                "policy.grant-key-file",
                "PEM file with the Ed25519 private key that grants are signed with, as `openssl genpkey -algorithm"
                        + " ed25519` writes it. Needed once a playbook is in mode approve or enforce.");
        String keyId = settings.text(
                "policy.grant-key-id", "healer", "Name under which actuators trust the public part of that key.");
        Policy policy = PlaybookText.shipped();
        if (playbooks != null) {
            try {
                policy = PlaybookText.read(playbooks, Files.readString(Path.of(playbooks)), policy);
            } catch (IOException | InvalidPathException e) {
                settings.mistake("policy.playbooks-file", "cannot read the playbooks: " + e);
            } catch (BadPlaybooksException e) {
                e.mistakes().forEach(mistake -> settings.mistake("policy.playbooks-file", mistake));
            }
        }
        Seal seal = null;
        if (key != null) {
            try {
                Path file = Path.of(key);
                Set<PosixFilePermission> open = Files.getPosixFilePermissions(file);
                if (open.stream().anyMatch(permission -> !permission.name().startsWith("OWNER_"))) {
                    settings.mistake(
                            "policy.grant-key-file",
                            key + " is open to others (" + PosixFilePermissions.toString(open)
                                    + "), and who has it can have anything done: run `chmod 600 " + key + "`");
                }
                seal = new Seal(GrantSeal.privateKey(Files.readString(file)), keyId);
            } catch (IOException | InvalidPathException e) {
                settings.mistake("policy.grant-key-file", "cannot read the key: " + e);
            } catch (GrantSeal.BadSealException e) {
                settings.mistake("policy.grant-key-file", key + ": " + e.getMessage());
            }
        }
        if (seal == null && policy.acts()) {
            if (key == null) {
                settings.mistake(
                        "policy.grant-key-file",
                        "policy.grant-key-file is missing: a playbook is in mode approve or enforce, and no actuator"
                                + " believes a grant that is not signed");
            }
            return new Orders(PlaybookText.shipped(), null);
        }
        return new Orders(seal == null ? policy : policy.looking(), seal);
    }

    /** The same, with no other keys allowed. */
    public static HealerConfig read(Settings settings, String defaultId) throws BadSettingsException {
        HealerConfig config = from(settings, defaultId);
        settings.finish();
        return config;
    }
}
