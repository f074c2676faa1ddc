package dev.unhang.healer.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.unhang.events.v1.IncidentKind;
import dev.unhang.healer.command.Action;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Playbooks as people write them, and every mistake that they can make, with its line. */
class PlaybookTextTest {

    private static Policy read(String yaml) throws BadPlaybooksException {
        return PlaybookText.read("p.yaml", yaml, PlaybookText.shipped());
    }

    private static List<String> mistakes(String yaml) {
        try {
            read(yaml);
        } catch (BadPlaybooksException e) {
            return e.mistakes();
        }
        throw new AssertionError("no mistake was found");
    }

    @Test
    void whatIsShippedHasAPlaybookForEveryKindAndOnlyObserves() {
        Policy shipped = PlaybookText.shipped();
        Facts nothing = new Facts(Set.of(), Facts.Confidence.NONE, false, Map.of());
        for (IncidentKind kind : PlaybookText.kinds()) {
            assertThat(shipped.choose(kind, nothing)).describedAs(kind.name()).isPresent();
        }
        assertThat(shipped.acts()).isFalse();
        assertThat(shipped.playbooks()).allMatch(playbook -> playbook.mode() == Mode.OBSERVE);
    }

    @Test
    void nothingShippedRebootsAndEachHarmfulStepHasACooldown() {
        assertThat(PlaybookText.shipped().playbooks())
                .flatExtracting(Playbook::rungs)
                .filteredOn(rung -> !rung.harmless())
                .allMatch(rung -> rung.cooldown().toMinutes() >= 5);
    }

    @Test
    void modesLiftWhatIsShippedAndAnOwnPlaybookReplacesItsKind() throws BadPlaybooksException {
        Policy policy = read("""
                modes: {job-hang: enforce}
                limits: {nodes-at-most: 3, rack-label: switch}
                playbooks:
                  - name: mine
                    kind: nic-fault
                    why: ours are different
                    mode: approve
                    steps:
                      - {action: bounce-nic, timeout: 20s, attempts: 2, verify: {within: 30s, for: 90s}, cooldown: 5m}
                """);
        assertThat(policy.playbooks())
                .filteredOn(playbook -> playbook.kind() == IncidentKind.JOB_HANG)
                .allMatch(playbook -> playbook.mode() == Mode.ENFORCE)
                .hasSize(2);
        List<Playbook> nic = policy.playbooks().stream()
                .filter(playbook -> playbook.kind() == IncidentKind.NIC_FAULT)
                .toList();
        assertThat(nic).extracting(Playbook::name).containsExactly("mine");
        Rung rung = nic.get(0).rungs().get(0);
        assertThat(rung.action()).isEqualTo(Action.BOUNCE_NIC);
        assertThat(rung.timeout()).isEqualTo(Duration.ofSeconds(20));
        assertThat(rung.verifyWithin()).isEqualTo(Duration.ofSeconds(30));
        assertThat(rung.verifyFor()).isEqualTo(Duration.ofSeconds(90));
        assertThat(rung.attempts()).isEqualTo(2);
        assertThat(policy.limits().nodesAtMost()).isEqualTo(3);
        assertThat(policy.limits().rackLabel()).isEqualTo("switch");
        assertThat(policy.limits().jobsAtMost()).isEqualTo(Limits.USUAL.jobsAtMost());
    }

    @Test
    void allMistakesAreToldAtOnceWithTheirLines() {
        assertThat(mistakes("""
                modes: {jobhang: on}
                limit: 3
                playbooks:
                  - name: mine
                    kind: nic-fault
                    mode: enforced
                    why: x
                    steps:
                      - {action: reboot}
                      - {action: bounce-nic, timeout: 5, attempts: 99, wtih: {a: b}}
                      - {action: relaunch-unit}
                      - {action: drain, when: {launcher: [sbatch], suspect: sure, repeat-offender: maybe}}
                """))
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line).startsWith("p.yaml:1: there is no kind of incident 'jobhang'"),
                        line -> assertThat(line).startsWith("p.yaml:1: mode is 'on'"),
                        line -> assertThat(line).startsWith("p.yaml:2: the file has no member 'limit'"),
                        line -> assertThat(line).startsWith("p.yaml:6: mode is 'enforced'"),
                        line -> assertThat(line).startsWith("p.yaml:9: there is no action 'reboot'; there are look"),
                        line -> assertThat(line).startsWith("p.yaml:10: timeout is '5'"),
                        line -> assertThat(line).startsWith("p.yaml:10: attempts is '99'"),
                        line -> assertThat(line).startsWith("p.yaml:10: a step has no member 'wtih'"),
                        line -> assertThat(line).startsWith("p.yaml:11: relaunch-unit needs with"),
                        line -> assertThat(line).startsWith("p.yaml:12: launcher is 'sbatch'"),
                        line -> assertThat(line).startsWith("p.yaml:12: suspect is 'sure'"),
                        line -> assertThat(line).startsWith("p.yaml:12: repeat-offender must be"));
    }

    @Test
    void aPlaybookThatContainsItselfIsALoop() {
        assertThat(mistakes("""
                playbooks:
                  - &loop
                    name: a
                    kind: nic-fault
                    why: x
                    steps: [*loop]
                """)).singleElement().asString().startsWith("p.yaml:2: this contains itself");
    }

    @Test
    void aLadderMustEnd() {
        StringBuilder yaml =
                new StringBuilder("playbooks:\n  - name: a\n    kind: nic-fault\n    why: x\n    steps:\n");
        for (int i = 0; i < 21; i++) {
            yaml.append("      - {action: bounce-nic}\n");
        }
        assertThat(mistakes(yaml.toString())).singleElement().asString().contains("at most 20 steps");
    }

    @Test
    void whatIsNoYamlIsToldWithItsLine() {
        assertThat(mistakes("modes: {a"))
                .singleElement()
                .asString()
                .startsWith("p.yaml:")
                .contains("not YAML");
        assertThat(mistakes("")).singleElement().asString().contains("empty");
        assertThat(mistakes("[1]")).isNotEmpty();
    }

    @Test
    void aConditionTellsWhyItDoesNotHold() {
        Condition condition =
                new Condition(Set.of("slurm"), Facts.Confidence.HIGH, true, Map.of("recovery_action", List.of(1.0)));
        assertThat(condition.fails(new Facts(Set.of("torchrun"), Facts.Confidence.HIGH, true, Map.of())))
                .contains("the job was not started by slurm");
        assertThat(condition.fails(new Facts(Set.of("slurm"), Facts.Confidence.MEDIUM, true, Map.of())))
                .contains("the first suspect is not sure enough");
        assertThat(condition.fails(new Facts(Set.of("slurm"), Facts.Confidence.HIGH, false, Map.of())))
                .contains("the node has not offended before");
        assertThat(condition.fails(
                        new Facts(Set.of("slurm"), Facts.Confidence.HIGH, true, Map.of("recovery_action", 2.0))))
                .contains("recovery_action is 2");
        assertThat(condition.fails(
                        new Facts(Set.of("slurm"), Facts.Confidence.HIGH, true, Map.of("recovery_action", 1.0))))
                .isEmpty();
    }

    @Test
    void undrainIsNoStep() {
        assertThatThrownBy(() -> read("playbooks: [{name: a, kind: nic-fault, why: x, steps: [{action: undrain}]}]"))
                .hasMessageContaining("given back by itself");
    }
}
