package dev.unhang.healer.decide;

import static dev.unhang.events.v1.IncidentKind.DUPLICATE_NODE;
import static dev.unhang.events.v1.IncidentKind.INPUT_STALL;
import static dev.unhang.events.v1.IncidentKind.JOB_HANG;
import static dev.unhang.events.v1.IncidentKind.JOB_SLOW;
import static dev.unhang.events.v1.IncidentKind.NIC_FAULT;
import static dev.unhang.events.v1.IncidentKind.NODE_SILENT;
import static dev.unhang.events.v1.Standing.CONFIRMED;
import static dev.unhang.events.v1.Standing.SUSPECTED;
import static dev.unhang.events.v1.Standing.WELL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.OperatorDecision;
import dev.unhang.events.v1.Severity;
import dev.unhang.events.v1.Watch;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeciderTest {

    private final Inbox inbox = new Inbox();

    @BeforeEach
    void oneNodeIsWatchedAndCovered() {
        inbox.say(inbox.covered(0, 0, true));
        inbox.node("n1", 0);
        inbox.seconds(3, 0);
        inbox.journal.clear();
    }

    @Test
    void aSuspicionIsShownAndNoMore() {
        assertThat(Inbox.steps(inbox.say(silent(SUSPECTED)))).containsExactly("suspected");
        assertThat(Inbox.steps(inbox.seconds(120, 0))).isEmpty();
        assertThat(open().getSeverity()).isEqualTo(Severity.INFO);
    }

    @Test
    void aSuspicionThatGoesAwayIsDismissed() {
        inbox.say(silent(SUSPECTED));
        assertThat(Inbox.steps(inbox.say(silent(WELL)))).containsExactly("dismissed");
        assertThat(inbox.core.ledger().openIncidents()).isEmpty();
    }

    @Test
    void aConfirmedFindingOpensConfirmsAndIsHeldInObserveMode() {
        assertThat(Inbox.steps(inbox.say(silent(CONFIRMED)))).containsExactly("suspected", "confirmed", "held");
        assertThat(open().getHeldReason()).startsWith("observe mode: ");
        assertThat(open().getSeverity()).isEqualTo(Severity.CRITICAL);
        assertThat(inbox.journal.get(2).getGuardsList())
                .extracting(guard -> guard.getGuard() + "=" + guard.getAllowed())
                .containsExactly(
                        "pause=true",
                        "silence=true",
                        "cause=true",
                        "taken=true",
                        "maintenance=true",
                        "duplicate-node=true",
                        "mode=false");
    }

    @Test
    void itIsResolvedOnceItsSignalHasBeenWellForSixtySeconds() {
        inbox.say(silent(CONFIRMED));
        inbox.say(silent(WELL));
        assertThat(Inbox.steps(inbox.seconds(59, 0))).isEmpty();
        assertThat(Inbox.steps(inbox.seconds(1, 0))).containsExactly("resolved");
    }

    @Test
    void aRelapseStartsTheSixtySecondsAnew() {
        inbox.say(silent(CONFIRMED));
        inbox.say(silent(WELL));
        inbox.seconds(40, 0);
        inbox.say(silent(CONFIRMED));
        inbox.seconds(1, 0);
        inbox.say(silent(WELL));
        assertThat(Inbox.steps(inbox.seconds(59, 0))).isEmpty();
        assertThat(Inbox.steps(inbox.seconds(1, 0))).containsExactly("resolved");
    }

    @Test
    void whatIsNotCoveredIsNeitherConfirmedNorDismissedNorResolved() {
        inbox.seconds(5);
        assertThat(Inbox.steps(inbox.say(silent(CONFIRMED)))).containsExactly("suspected");
        assertThat(Inbox.steps(inbox.say(silent(WELL)))).isEmpty();
        assertThat(Inbox.steps(inbox.say(silent(CONFIRMED)))).isEmpty();
        assertThat(Inbox.steps(inbox.seconds(1, 0))).containsExactly("confirmed", "held");
    }

    @Test
    void aCoverFourSecondsOldStillCounts() {
        inbox.seconds(4);
        assertThat(Inbox.steps(inbox.say(silent(CONFIRMED)))).containsExactly("suspected", "confirmed", "held");
    }

    @Test
    void aLagOfFiveSecondsIsBlind() {
        inbox.say(inbox.covered(0, 5_000, false));
        assertThat(Inbox.steps(inbox.say(silent(CONFIRMED)))).containsExactly("suspected");
        assertThat(Inbox.steps(inbox.say(inbox.covered(0, 4_999, false)))).isEmpty();
        assertThat(Inbox.steps(inbox.seconds(1, 0))).containsExactly("confirmed", "held");
    }

    @Test
    void blindnessBreaksTheSixtySeconds() {
        inbox.say(silent(CONFIRMED));
        inbox.say(silent(WELL));
        inbox.seconds(50, 0);
        inbox.seconds(6);
        assertThat(Inbox.steps(inbox.seconds(60, 0))).isEmpty();
        assertThat(Inbox.steps(inbox.seconds(1, 0))).containsExactly("resolved");
    }

    @Test
    void whatANewOwnerDoesNotSayAgainIsWell() {
        inbox.say(silent(CONFIRMED));
        inbox.say(nic(SUSPECTED));
        inbox.generation(2);
        inbox.say(silent(CONFIRMED));
        assertThat(Inbox.steps(inbox.say(inbox.covered(0, 0, true)))).containsExactly("dismissed");
        assertThat(Inbox.steps(inbox.seconds(120, 0))).isEmpty();
        assertThat(open().getKind()).isEqualTo(NODE_SILENT);
    }

    @Test
    void whatAnOlderOwnerSaysIsIgnored() {
        inbox.generation(2);
        inbox.say(inbox.covered(0, 0, true));
        inbox.generation(1);
        assertThat(inbox.say(silent(CONFIRMED))).isEmpty();
        assertThat(inbox.say(inbox.report("n2", 0, Watch.WATCH_WATCHED))).isEmpty();
    }

    @Test
    void theKindsOfStandstillShareOneIncidentAndTheKindFollowsUntilConfirmed() {
        assertThat(Inbox.steps(inbox.say(inbox.jobFinding(0, INPUT_STALL, SUSPECTED, "n1"))))
                .containsExactly("suspected");
        String id = open().getId();
        assertThat(Inbox.steps(inbox.say(inbox.jobFinding(0, JOB_HANG, CONFIRMED, "n1"))))
                .containsExactly("confirmed", "held");
        assertThat(open().getId()).isEqualTo(id).startsWith("input-stall-");
        assertThat(open().getKind()).isEqualTo(JOB_HANG);
        inbox.say(inbox.jobFinding(0, INPUT_STALL, CONFIRMED, "n1").toBuilder()
                .setSeverity(Severity.CRITICAL)
                .build());
        assertThat(open().getKind()).isEqualTo(JOB_HANG);
    }

    @Test
    void whatStillStandsWhenAnIncidentIsResolvedOpensANewOne() {
        inbox.say(inbox.jobFinding(0, JOB_HANG, CONFIRMED, "n1"));
        inbox.say(inbox.jobFinding(0, INPUT_STALL, SUSPECTED, "n1"));
        inbox.say(inbox.jobFinding(0, JOB_HANG, WELL, "n1"));
        assertThat(Inbox.steps(inbox.seconds(60, 0))).containsExactly("resolved", "suspected");
        assertThat(open().getKind()).isEqualTo(INPUT_STALL);
    }

    @Test
    void aSlowJobThatComesToAStandstillHasTwoIncidents() {
        inbox.say(inbox.jobFinding(0, JOB_SLOW, CONFIRMED, "n1"));
        assertThat(Inbox.steps(inbox.say(inbox.jobFinding(0, JOB_HANG, CONFIRMED, "n1"))))
                .containsExactly("suspected", "confirmed", "held");
    }

    @Test
    void whatIsSaidOfAJobThatIsNoMoreEndsAtOnce() {
        inbox.say(inbox.jobFinding(0, JOB_HANG, CONFIRMED, "n1"));
        assertThat(Inbox.steps(inbox.say(inbox.jobFinding(0, JOB_HANG, WELL, "n1").toBuilder()
                        .setOver(true)
                        .build())))
                .containsExactly("resolved");
    }

    @Test
    void anIncidentThatExplainsAJobsHoldsIt() {
        inbox.say(inbox.jobFinding(0, JOB_HANG, CONFIRMED, "n1"));
        assertThat(open().getHeldReason()).startsWith("observe mode");
        inbox.say(nic(CONFIRMED));
        Incident job = ofKind(JOB_HANG);
        Incident nic = ofKind(NIC_FAULT);
        assertThat(job.getCause()).isEqualTo(nic.getId());
        assertThat(job.getHeldReason()).isEqualTo("cause under repair: " + nic.getId());
        inbox.say(nic(WELL));
        inbox.seconds(61, 0);
        assertThat(open().getHeldReason()).startsWith("observe mode");
    }

    @Test
    void theSubjectThatAFindingNamesAsItsCauseIsTakenAtItsWord() {
        inbox.node("n2", 0);
        inbox.say(inbox.finding(0, NIC_FAULT, "nic:n2/0000:01:00.0/0", CONFIRMED, "n2"));
        inbox.say(inbox.jobFinding(0, JOB_HANG, CONFIRMED, "n1").toBuilder()
                .setCause("nic:n2/0000:01:00.0/0")
                .build());
        assertThat(ofKind(JOB_HANG).getCause()).isEqualTo(ofKind(NIC_FAULT).getId());
    }

    @Test
    void wordingAloneIsTakenOverEachTenSeconds() {
        inbox.say(silent(SUSPECTED));
        inbox.seconds(9, 0);
        assertThat(inbox.say(silent(SUSPECTED).toBuilder().setAgeMs(9_000).build()))
                .isEmpty();
        inbox.seconds(1, 0);
        assertThat(inbox.say(silent(SUSPECTED).toBuilder().setAgeMs(10_000).build()))
                .hasSize(1);
    }

    @Test
    void aPartitionThatNobodyCoversIsAnIncidentAfterFifteenSecondsAndConfirmedAfterSixty() {
        assertThat(Inbox.steps(inbox.seconds(14))).isEmpty();
        assertThat(Inbox.steps(inbox.seconds(1))).containsExactly("suspected");
        assertThat(Inbox.steps(inbox.seconds(44))).isEmpty();
        assertThat(Inbox.steps(inbox.seconds(1))).containsExactly("confirmed", "held");
        assertThat(open().getSubject()).isEqualTo("cluster");
        assertThat(Inbox.steps(inbox.seconds(60, 0))).isEmpty();
        assertThat(Inbox.steps(inbox.seconds(2, 0))).containsExactly("resolved");
    }

    @Test
    void aPartitionWithoutNodesMayBeBlind() {
        inbox.say(inbox.covered(7, 0, true));
        assertThat(inbox.seconds(200, 0)).isEmpty();
    }

    @Test
    void aPersonDismissesAndTheSameSignalOpensNothingUntilItWasWell() {
        inbox.say(silent(CONFIRMED));
        List<JournalEntry> answer = inbox.decide("dismiss", open().getId());
        assertThat(Inbox.steps(answer)).containsExactly("dismissed");
        assertThat(answer.get(0).getWho()).isEqualTo("ann");
        assertThat(answer.get(0).getDecision()).isEqualTo("d0");
        assertThat(Inbox.steps(inbox.say(silent(CONFIRMED)))).isEmpty();
        inbox.generation(2);
        inbox.say(silent(CONFIRMED));
        inbox.say(inbox.covered(0, 0, true));
        assertThat(Inbox.steps(inbox.say(silent(CONFIRMED)))).isEmpty();
        inbox.say(silent(WELL));
        assertThat(Inbox.steps(inbox.say(silent(SUSPECTED)))).containsExactly("suspected");
    }

    @Test
    void aForgottenNodeIsNoIncidentForEver() {
        inbox.say(silent(CONFIRMED));
        assertThat(Inbox.steps(inbox.decide("forget", "n1"))).containsExactly("dismissed");
        assertThat(inbox.core.ledger().knows("n1")).isFalse();
        inbox.say(inbox.report("n1", 0, Watch.WATCH_SILENT));
        assertThat(inbox.say(silent(CONFIRMED))).isEmpty();
        assertThat(inbox.seconds(200)).as("its partition may be blind now").isEmpty();
        inbox.say(inbox.report("n1", 0, Watch.WATCH_WATCHED).toBuilder()
                .setSilentMs(NodeBook.HEARD_MS)
                .build());
        assertThat(inbox.core.ledger().knows("n1"))
                .as("the log stood still, and it has not spoken since")
                .isFalse();
        inbox.node("n1", 0);
        assertThat(inbox.core.ledger().knows("n1")).isTrue();
        assertThat(Inbox.steps(inbox.say(silent(SUSPECTED)))).containsExactly("suspected");
    }

    @Test
    void pauseAndResumeAreNamedInWhatIsHeld() {
        inbox.say(silent(CONFIRMED));
        inbox.decide("pause", "");
        assertThat(open().getHeldReason()).isEqualTo("paused by ann: I know better");
        inbox.decide("resume", "");
        assertThat(open().getHeldReason()).startsWith("observe mode");
    }

    @Test
    void aTakenNodeAndOneInMaintenanceAreNamed() {
        inbox.say(silent(CONFIRMED));
        inbox.decide("take", "n1");
        assertThat(open().getHeldReason()).isEqualTo("node n1 was taken by ann");
        inbox.decide("give", "n1");
        inbox.say(OperatorDecision.newBuilder()
                .setId("m")
                .setWho("ann")
                .setVerb("maintenance")
                .setTarget("n1")
                .setForMs(20_000)
                .build());
        assertThat(open().getHeldReason()).isEqualTo("node n1 is in maintenance");
        inbox.seconds(31, 0);
        assertThat(open().getHeldReason()).startsWith("observe mode");
    }

    @Test
    void twoMachinesOfOneNameBlockWhatIsOnTheNode() {
        inbox.say(inbox.finding(0, DUPLICATE_NODE, "node:n1", CONFIRMED, "n1"));
        inbox.say(nic(CONFIRMED));
        assertThat(ofKind(NIC_FAULT).getHeldReason()).startsWith("two machines call themselves n1: duplicate-node-");
    }

    @Test
    void aDecisionThatIsRepeatedChangesNothing() {
        OperatorDecision pause = OperatorDecision.newBuilder()
                .setId("x")
                .setWho("ann")
                .setVerb("pause")
                .build();
        assertThat(inbox.say(pause)).hasSize(1);
        inbox.decide("resume", "");
        assertThat(inbox.say(pause)).isEmpty();
        assertThat(inbox.core.ledger().pause().getPaused()).isFalse();
    }

    @Test
    void whatCannotBeDoneIsRefusedWithASentence() {
        for (String verb : List.of("approve", "deny", "dismiss", "take", "give", "forget", "maintenance", "explode")) {
            List<JournalEntry> answer = inbox.decide(verb, "nowhere");
            assertThat(answer).as(verb).hasSize(1);
            assertThat(answer.get(0).getRefused()).as(verb).isTrue();
            assertThat(answer.get(0).getSentence()).as(verb).isNotEmpty();
            assertThat(answer.get(0).getChangesCount()).as(verb).isZero();
        }
    }

    @Test
    void aDayAfterItsEndAnIncidentIsDropped() {
        inbox.say(silent(SUSPECTED));
        inbox.say(silent(WELL));
        inbox.seconds(86_340, 0);
        assertThat(inbox.core.ledger().closedIncidents()).hasSize(1);
        inbox.seconds(120, 0);
        assertThat(inbox.core.ledger().closedIncidents()).isEmpty();
    }

    private Finding silent(dev.unhang.events.v1.Standing standing) {
        return inbox.finding(0, NODE_SILENT, "node:n1", standing, "n1");
    }

    private Finding nic(dev.unhang.events.v1.Standing standing) {
        return inbox.finding(0, NIC_FAULT, "nic:n1/0000:01:00.0/0", standing, "n1");
    }

    private Incident open() {
        assertThat(inbox.core.ledger().openIncidents()).hasSize(1);
        return inbox.core.ledger().openIncidents().iterator().next();
    }

    private Incident ofKind(dev.unhang.events.v1.IncidentKind kind) {
        return inbox.core.ledger().openIncidents().stream()
                .filter(incident -> incident.getKind() == kind)
                .filter(incident -> incident.getState() != IncidentState.INCIDENT_SUSPECTED)
                .findFirst()
                .orElseThrow();
    }
}
