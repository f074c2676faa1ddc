package dev.unhang.healer.policy;

import dev.unhang.events.v1.IncidentKind;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * All that an operator wants done: playbooks in order, and limits. It is given when the healer starts and is no part of
 * the log, so a decision names the playbook that it followed. Immutable.
 *
 * @param looks whether an actuator may be asked to look at the ranks of a suspected hang, whatever the mode: it only reads
 */
public record Policy(List<Playbook> playbooks, Limits limits, boolean looks) {

    public Policy {
        playbooks = List.copyOf(playbooks);
    }

    /** One that asks for no looks. */
    public Policy(List<Playbook> playbooks, Limits limits) {
        this(playbooks, limits, false);
    }

    /** The same with looks. */
    public Policy looking() {
        return new Policy(playbooks, limits, true);
    }

    /** Does nothing about anything. */
    public static final Policy NONE = new Policy(List.of(), Limits.USUAL);

    /** The first playbook for the kind whose condition holds. */
    public Optional<Playbook> choose(IncidentKind kind, Facts facts) {
        return playbooks.stream()
                .filter(playbook -> playbook.kind() == kind)
                .filter(playbook -> playbook.when().fails(facts).isEmpty())
                .findFirst();
    }

    public @Nullable Playbook named(String name) {
        return playbooks.stream()
                .filter(playbook -> playbook.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** Whether anything may be done at all, so that grants must be signed. */
    public boolean acts() {
        return playbooks.stream().anyMatch(playbook -> playbook.mode() != Mode.OBSERVE);
    }

    /** The same with the modes of some kinds changed. */
    public Policy at(Map<IncidentKind, Mode> modes) {
        return new Policy(
                playbooks.stream()
                        .map(playbook -> playbook.at(modes.getOrDefault(playbook.kind(), playbook.mode())))
                        .toList(),
                limits,
                looks);
    }
}
