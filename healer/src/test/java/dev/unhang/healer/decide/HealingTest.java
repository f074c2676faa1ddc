package dev.unhang.healer.decide;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.ActuatorHello;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.CommandState;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.GpuReport;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.Incident;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.JobIdentity;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.RankProcess;
import dev.unhang.events.v1.SchedulerFact;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Watch;
import dev.unhang.events.v1.Withdraw;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.incident.Kinds;
import dev.unhang.healer.journal.CommandRecords;
import dev.unhang.healer.policy.BadPlaybooksException;
import dev.unhang.healer.policy.PlaybookText;
import dev.unhang.healer.policy.Policy;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** From a confirmed incident over offer, claim and grant to what it came to; and everything that says no on the way. */
class HealingTest {

    private static final ByteString BOOT = ByteString.copyFrom(new byte[16]);
    private static final ByteString GPU =
            ByteString.copyFrom(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    private static final String GPU_NAME = "GPU-01020304-0506-0708-090a-0b0c0d0e0f10";

    private Inbox inbox = new Inbox(policy("nic-fault: enforce"));
    private int nonces;

    static Policy policy(String... modes) {
        try {
            return PlaybookText.read(
                    "test.yaml", "modes:\n  " + String.join("\n  ", modes) + "\n", PlaybookText.shipped());
        } catch (BadPlaybooksException e) {
            throw new AssertionError(e);
        }
    }

    private void begin(Policy policy, String... nodes) {
        inbox = new Inbox(policy);
        for (String node : nodes) {
            inbox.say(report(node));
            hello(node, "start-1");
        }
        inbox.seconds(1, 0);
    }

    private NodeReport report(String node) {
        return inbox.report(node, 0, Watch.WATCH_WATCHED).toBuilder()
                .setBootId(BOOT)
                .addNics(NicReport.newBuilder()
                        .setId("0000:5c:00.0/0")
                        .setName("eth1")
                        .setDefaultRoute(false))
                .addGpus(GpuReport.newBuilder().setUuid(GPU))
                .build();
    }

    private void hello(String node, String start) {
        inbox.say(ActuatorHello.newBuilder()
                .setNode(node)
                .setBootId(BOOT)
                .setStartId(start)
                .addAllActions(Arrays.stream(Action.values()).map(Action::label).toList())
                .build());
    }

    private Finding nic(String node, Standing standing) {
        return inbox.finding(0, IncidentKind.NIC_FAULT, "nic:" + node + "/0000:5c:00.0/0", standing, node);
    }

    private Finding hang(Standing standing, String... nodes) {
        return inbox.finding(0, IncidentKind.JOB_HANG, "job:train@0", standing, nodes).toBuilder()
                .setJob("train")
                .setIdentity(JobIdentity.newBuilder().setTorchelastic("run-1").setSlurm("42.0"))
                .addSuspects(dev.unhang.events.v1.Suspect.newBuilder()
                        .setNode(nodes[0])
                        .setRank(1)
                        .setConfidence("high"))
                .addProcesses(RankProcess.newBuilder()
                        .setNode(nodes[0])
                        .setBootId(BOOT)
                        .setPid(4711)
                        .setStartTicks(99)
                        .setRank(1))
                .build();
    }

    private List<JournalEntry> claim(Command command) {
        return inbox.say(claimOf(command, "start-1"));
    }

    private Claim claimOf(Command command, String start) {
        byte[] nonce = new byte[16];
        nonce[0] = (byte) ++nonces;
        return Claim.newBuilder()
                .setCommandId(command.getId())
                .setNode(command.getOffer().getNode())
                .setNonce(ByteString.copyFrom(nonce))
                .setBootId(BOOT)
                .setStartId(start)
                .build();
    }

    private List<JournalEntry> result(Command command, ActionEnd end) {
        return inbox.say(ActionResult.newBuilder()
                .setCommandId(command.getId())
                .setNode(command.getOffer().getNode())
                .setEnd(end)
                .setStartId("start-1")
                .setDetail("as told")
                .build());
    }

    private void run(Command command, ActionEnd end) {
        claim(command);
        assertThat(command(command.getId()).getState()).isEqualTo(CommandState.COMMAND_GRANTED);
        result(command, end);
    }

    private Command command(String id) {
        return Objects.requireNonNull(inbox.core.ledger().command(id), id);
    }

    /** The command that was offered last, and is open. */
    private Command offered() {
        return inbox.core.ledger().unreleasedCommands().stream()
                .filter(command -> command.getState() == CommandState.COMMAND_OFFERED)
                .reduce((a, b) -> b)
                .orElseThrow(() -> new AssertionError("nothing is offered; held: " + held()));
    }

    /** Passes the steps that only look, and answers with the first that does something. */
    private Command harmful() {
        Command command = offered();
        while (command.getOffer().getAction().equals("collect-evidence")) {
            run(command, ActionEnd.ACTION_DONE);
            inbox.seconds(1, 0);
            command = offered();
        }
        return command;
    }

    private List<String> held() {
        return inbox.core.ledger().openIncidents().stream()
                .map(incident ->
                        incident.getId() + " " + Kinds.name(incident.getState()) + " " + incident.getHeldReason())
                .toList();
    }

    private Incident incident() {
        return inbox.core.ledger().openIncidents().iterator().next();
    }

    private Incident closed(String id) {
        return Objects.requireNonNull(inbox.core.ledger().incident(id));
    }

    private List<Object> sent() {
        return inbox.journal.stream()
                .flatMap(entry -> CommandRecords.of(entry).stream())
                .map(record -> (Object) record.message())
                .toList();
    }

    @Test
    void aConfirmedFaultIsRepairedAndResolvedOnceItsSignalStaysWell() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(nic("n1", Standing.SUSPECTED));
        assertThat(inbox.core.ledger().commands()).isEmpty();
        inbox.say(nic("n1", Standing.CONFIRMED));
        assertThat(offered().getOffer().getAction()).isEqualTo("collect-evidence");
        Command bounce = harmful();
        assertThat(bounce.getOffer().getAction()).isEqualTo("bounce-nic");
        assertThat(bounce.getOffer().getParametersMap())
                .containsExactlyEntriesOf(java.util.Map.of("nic", "0000:5c:00.0/0"));
        String id = bounce.getIncident();
        run(bounce, ActionEnd.ACTION_DONE);
        assertThat(incident().getState()).isEqualTo(IncidentState.INCIDENT_VERIFYING);
        inbox.say(nic("n1", Standing.WELL));
        inbox.seconds(119, 0);
        assertThat(incident().getState()).isEqualTo(IncidentState.INCIDENT_VERIFYING);
        assertThat(command(bounce.getId()).getReleased()).isFalse();
        inbox.seconds(2, 0);
        assertThat(closed(id).getState()).isEqualTo(IncidentState.INCIDENT_RESOLVED);
        assertThat(command(bounce.getId()).getReleased()).isTrue();
    }

    @Test
    void theGrantBearsTheNonceTheHashAndTheEpochAndIsGivenOnce() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        Command command = offered();
        Claim first = claimOf(command, "start-1");
        inbox.say(first);
        inbox.say(first);
        inbox.say(claimOf(command, "start-1"));
        List<Object> grants = sent().stream().filter(Grant.class::isInstance).toList();
        assertThat(grants).hasSize(1);
        Grant grant = (Grant) grants.get(0);
        assertThat(grant.getNonce()).isEqualTo(first.getNonce());
        assertThat(grant.getEpoch()).isEqualTo(1);
        assertThat(grant.getParametersHash())
                .isEqualTo(dev.unhang.healer.command.ParameterHash.of(
                        command.getOffer().getParametersMap()));
    }

    @Test
    void theDecisionWithItsGuardsAnswersStandsInTheJournalBeforeTheOffer() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        JournalEntry entry = inbox.journal.stream()
                .filter(each -> !CommandRecords.of(each).isEmpty())
                .findFirst()
                .orElseThrow();
        assertThat(CommandRecords.of(entry).get(0).message()).isInstanceOf(Offer.class);
        assertThat(entry.getGuardsCount()).isGreaterThan(6);
        assertThat(entry.getGuardsList()).allMatch(answer -> answer.getAllowed());
        assertThat(entry.getIncident()).isEqualTo(incident().getId());
    }

    @Test
    void everyGuardIsAskedAgainAtTheClaim() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        Command command = harmful();
        inbox.decide("pause", "");
        List<JournalEntry> entries = claim(command);
        assertThat(command(command.getId()).getState()).isEqualTo(CommandState.COMMAND_WITHDRAWN);
        assertThat(entries.get(0).getSentence()).contains("paused by ann");
        assertThat(sent()).last().isInstanceOf(Withdraw.class);
        assertThat(incident().getState()).isEqualTo(IncidentState.INCIDENT_HELD);
        assertThat(incident().getHeldReason()).contains("paused by ann");
        inbox.decide("resume", "");
        assertThat(offered().getOffer().getAction())
                .describedAs("what a guard took back is no attempt")
                .isEqualTo("bounce-nic");
    }

    @Test
    void aSignalThatIsWellAtTheClaimStartsNothing() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        Command command = harmful();
        inbox.say(nic("n1", Standing.WELL));
        claim(command);
        assertThat(command(command.getId()).getState()).isEqualTo(CommandState.COMMAND_WITHDRAWN);
    }

    @Test
    void anOfferThatNobodyClaimsIsWithdrawnAfterThirtySeconds() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        Command command = harmful();
        keepSeen(28);
        assertThat(command(command.getId()).getState()).isEqualTo(CommandState.COMMAND_OFFERED);
        keepSeen(3);
        assertThat(command(command.getId()).getState()).isEqualTo(CommandState.COMMAND_WITHDRAWN);
        assertThat(claim(command)).isEmpty();
    }

    @Test
    void whenNoStepIsLeftAPersonIsCalledOnce() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        run(harmful(), ActionEnd.ACTION_FAILED);
        keepSeen(2);
        assertThat(incident().getState()).isEqualTo(IncidentState.INCIDENT_ESCALATED);
        assertThat(incident().getCalledPerson()).isTrue();
        keepSeen(120);
        assertThat(inbox.journal.stream()
                        .filter(entry ->
                                entry.getTo() == IncidentState.INCIDENT_ESCALATED && entry.getFrom() != entry.getTo()))
                .hasSize(1);
    }

    @Test
    void anActionThatDidNotHelpLeadsToTheNextStep() {
        begin(policy("nic-fault: enforce"), "n1");
        hello(Action.AT_SCHEDULER, "x1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        run(harmful(), ActionEnd.ACTION_DONE);
        keepSeen(61);
        assertThat(offered().getOffer().getAction()).isEqualTo("drain");
    }

    @Test
    void aStartAnewInterruptsWhatWasGrantedBeforeAndAnOldHelloDoesNot() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        Command command = harmful();
        claim(command);
        hello("n1", "start-2");
        assertThat(command(command.getId()).getState()).isEqualTo(CommandState.COMMAND_INTERRUPTED);
        inbox = new Inbox(policy("nic-fault: enforce"));
        inbox.say(report("n1"));
        hello("n1", "start-0");
        hello("n1", "start-1");
        inbox.seconds(1, 0);
        inbox.say(nic("n1", Standing.CONFIRMED));
        command = harmful();
        claim(command);
        hello("n1", "start-0");
        assertThat(command(command.getId()).getState()).isEqualTo(CommandState.COMMAND_GRANTED);
    }

    @Test
    void whatTimedOutKeepsItsNodeLockedUntilItIsKnownToBeOver() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        Command command = harmful();
        claim(command);
        keepSeen(121);
        assertThat(command(command.getId()).getState()).isEqualTo(CommandState.COMMAND_TIMED_OUT);
        keepSeen(200);
        assertThat(command(command.getId()).getReleased()).isFalse();
        inbox.say(report("n1").toBuilder()
                .setBootId(ByteString.copyFrom(new byte[] {9}))
                .build());
        assertThat(command(command.getId()).getState()).isEqualTo(CommandState.COMMAND_INTERRUPTED);
        assertThat(command(command.getId()).getReleased()).isTrue();
    }

    @Test
    void toGiveBackANodeThatWasTakenDoesNotSayThatWhatTimedOutThereIsOver() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        Command command = harmful();
        claim(command);
        keepSeen(121);
        inbox.decide("take", "n1");
        inbox.decide("give", "n1");
        assertThat(command(command.getId()).getState()).isEqualTo(CommandState.COMMAND_TIMED_OUT);
        inbox.decide("give", "n1");
        assertThat(command(command.getId()).getState()).isEqualTo(CommandState.COMMAND_INTERRUPTED);
    }

    @Test
    void inModeApproveAStepWaitsForAYesWhichExpires() {
        begin(policy("nic-fault: approve"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        run(offered(), ActionEnd.ACTION_DONE);
        keepSeen(1);
        assertThat(incident().getState()).isEqualTo(IncidentState.INCIDENT_AWAITING_APPROVAL);
        keepSeen(14 * 60);
        assertThat(incident().getState()).isEqualTo(IncidentState.INCIDENT_AWAITING_APPROVAL);
        keepSeen(95);
        assertThat(incident().getState()).isEqualTo(IncidentState.INCIDENT_HELD);
        assertThat(incident().getHeldReason()).startsWith("nobody said yes");
        inbox.decide("approve", incident().getId());
        assertThat(offered().getOffer().getAction()).isEqualTo("bounce-nic");
    }

    @Test
    void aNoStaysANoUntilTheSamePersonOrAnotherSaysYes() {
        begin(policy("nic-fault: approve"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        run(offered(), ActionEnd.ACTION_DONE);
        keepSeen(1);
        inbox.decide("deny", incident().getId());
        assertThat(incident().getState()).isEqualTo(IncidentState.INCIDENT_HELD);
        assertThat(incident().getHeldReason()).isEqualTo("denied by ann: I know better");
        keepSeen(1_000);
        assertThat(incident().getState()).isEqualTo(IncidentState.INCIDENT_HELD);
        inbox.decide("approve", incident().getId());
        assertThat(offered().getOffer().getAction()).isEqualTo("bounce-nic");
    }

    @Test
    void twoNodesAreNotRepairedAtOnceInASmallCluster() {
        begin(policy("nic-fault: enforce"), "n1", "n2");
        inbox.say(nic("n1", Standing.CONFIRMED));
        Command first = harmful();
        inbox.say(nic("n2", Standing.CONFIRMED));
        run(offered(), ActionEnd.ACTION_DONE);
        if (offered().getOffer().getNode().equals("n2") && !offered().getId().equals(first.getId())) {
            run(offered(), ActionEnd.ACTION_DONE);
        }
        keepSeen(1);
        Incident second = inbox.core.ledger().openIncidents().stream()
                .filter(incident -> incident.getSubject().contains("n2"))
                .findFirst()
                .orElseThrow();
        assertThat(second.getState()).isEqualTo(IncidentState.INCIDENT_HELD);
        assertThat(second.getHeldReason()).contains("at most 1 at once in the cluster");
    }

    @Test
    void aJobThatFillsTheClusterIsRelaunchedAndMustTrainAgain() {
        begin(policy("job-hang: enforce"), "n1", "n2");
        inbox.say(hang(Standing.CONFIRMED, "n1", "n2"));
        Command restart = harmful();
        assertThat(restart.getOffer().getAction()).isEqualTo("restart-ranks");
        assertThat(restart.getLocksList()).containsExactly("n1", "n2");
        assertThat(restart.getOffer().getParametersOrThrow("processes"))
                .isEqualTo("00000000000000000000000000000000:4711:99");
        run(restart, ActionEnd.ACTION_DONE);
        inbox.say(hang(Standing.WELL, "n1", "n2").toBuilder().setOver(true).build());
        keepSeen(100);
        assertThat(incident().getState())
                .describedAs("that the old processes are gone proves nothing")
                .isEqualTo(IncidentState.INCIDENT_VERIFYING);
        keepSeen(205);
        assertThat(incident().getState()).isEqualTo(IncidentState.INCIDENT_ESCALATED);
        assertThat(inbox.journal).anyMatch(entry -> entry.getSentence().contains("did not train again within 300 s"));
    }

    @Test
    void aJobThatAskedToBeLeftAloneIs() {
        begin(policy("job-hang: enforce"), "n1");
        Finding finding = hang(Standing.CONFIRMED, "n1");
        inbox.say(finding.toBuilder()
                .setIdentity(finding.getIdentity().toBuilder().setMode("observe"))
                .build());
        run(offered(), ActionEnd.ACTION_DONE);
        keepSeen(1);
        assertThat(incident().getHeldReason()).contains("UNHANG=observe");
    }

    @Test
    void aPortThatCarriesTheDefaultRouteOrMayIsNotTouched() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(report("n1").toBuilder()
                .setNics(0, report("n1").getNics(0).toBuilder().setDefaultRoute(true))
                .build());
        inbox.say(nic("n1", Standing.CONFIRMED));
        run(offered(), ActionEnd.ACTION_DONE);
        inbox.seconds(1, 0);
        assertThat(incident().getHeldReason()).contains("carries the default route");
    }

    @Test
    void aGpuThatSomebodyUsesIsNotReset() {
        begin(policy("gpu-fault: enforce"), "n1");
        inbox.say(report("n1").toBuilder()
                .setGpus(0, GpuReport.newBuilder().setUuid(GPU).addPids(77))
                .build());
        inbox.say(inbox.finding(0, IncidentKind.GPU_FAULT, "gpu:" + GPU_NAME, Standing.CONFIRMED, "n1").toBuilder()
                .putFigures("recovery_action", 1)
                .build());
        run(offered(), ActionEnd.ACTION_DONE);
        inbox.seconds(1, 0);
        assertThat(incident().getHeldReason()).contains("processes use " + GPU_NAME);
    }

    @Test
    void whatAPersonDrainedStaysHisAndWhatWeDrainedIsGivenBackOnceWell() {
        begin(policy("gpu-fault: enforce"), "n1");
        hello(Action.AT_SCHEDULER, "start-1");
        Finding fault = inbox.finding(0, IncidentKind.GPU_FAULT, "gpu:" + GPU_NAME, Standing.CONFIRMED, "n1");
        inbox.say(fault);
        Command drain = harmful();
        assertThat(drain.getOffer().getAction()).isEqualTo("drain");
        String reason = drain.getOffer().getParametersOrThrow("reason");
        String id = drain.getIncident();
        run(drain, ActionEnd.ACTION_DONE);
        assertThat(inbox.core.ledger().drainedByUs()).hasSize(1);
        inbox.say(fact("n1", "IDLE+DRAIN", reason, "root"));
        inbox.say(fault.toBuilder().setStanding(Standing.WELL).build());
        keepSeen(65);
        assertThat(closed(id).getState()).isEqualTo(IncidentState.INCIDENT_RESOLVED);
        keepSeen(31);
        Command undrain = offered();
        assertThat(undrain.getOffer().getAction()).isEqualTo("undrain");
        assertThat(undrain.getOffer().getParametersOrThrow("reason")).isEqualTo(reason);
        inbox.decide("pause", "");
        run(undrain, ActionEnd.ACTION_DONE);
        assertThat(inbox.core.ledger().drainedByUs()).isEmpty();
        inbox.decide("resume", "");
        inbox.say(fact("n1", "IDLE+DRAIN", "fan broken", "bob"));
        inbox.say(fault);
        run(offered(), ActionEnd.ACTION_DONE);
        keepSeen(1);
        assertThat(incident().getHeldReason()).contains("set by bob: fan broken");
    }

    @Test
    void aDrainWhoseEndNobodyCouldTellIsOursByItsReasonWordForWord() {
        begin(policy("gpu-fault: enforce"), "n1");
        hello(Action.AT_SCHEDULER, "start-1");
        inbox.say(inbox.finding(0, IncidentKind.GPU_FAULT, "gpu:" + GPU_NAME, Standing.CONFIRMED, "n1"));
        Command drain = harmful();
        String reason = drain.getOffer().getParametersOrThrow("reason");
        run(drain, ActionEnd.ACTION_INTERRUPTED);
        inbox.say(fact("n1", "IDLE+DRAIN", reason + " perhaps", "root"));
        assertThat(inbox.core.ledger().drainedByUs()).isEmpty();

        inbox.say(fact("n1", "IDLE+DRAIN", reason, "root"));

        assertThat(inbox.core.ledger().drainedByUs())
                .singleElement()
                .satisfies(node -> assertThat(node.getScheduler().getIncident()).isEqualTo(drain.getIncident()));
        inbox.say(fact("n1", "IDLE", "", ""));
        assertThat(inbox.core.ledger().drainedByUs()).isEmpty();
    }

    @Test
    void whatANodeSaidLastOfItsPartsIsNoProofWhileItIsSilent() {
        begin(policy("gpu-fault: observe"), "n1");
        Finding fault = inbox.finding(0, IncidentKind.GPU_FAULT, "gpu:" + GPU_NAME, Standing.CONFIRMED, "n1");
        inbox.say(fault);
        String id = incident().getId();
        inbox.say(fault.toBuilder().setStanding(Standing.WELL).build());
        for (int second = 0; second < 100; second++) {
            inbox.say(inbox.report("n1", 0, Watch.WATCH_SILENT));
            inbox.seconds(1, 0);
        }
        assertThat(incident().getId()).isEqualTo(id);

        keepSeen(65);

        assertThat(closed(id).getState()).isEqualTo(IncidentState.INCIDENT_RESOLVED);
    }

    @Test
    void aReasonThatIsNotOursAnyMoreIsNotGivenBack() {
        begin(policy("gpu-fault: enforce"), "n1");
        hello(Action.AT_SCHEDULER, "start-1");
        Finding fault = inbox.finding(0, IncidentKind.GPU_FAULT, "gpu:" + GPU_NAME, Standing.CONFIRMED, "n1");
        inbox.say(fault);
        run(harmful(), ActionEnd.ACTION_DONE);
        inbox.say(fact("n1", "IDLE+DRAIN", "bob looks after it", "bob"));
        inbox.say(fault.toBuilder().setStanding(Standing.WELL).build());
        keepSeen(200);
        assertThat(inbox.core.ledger().commands())
                .noneMatch(command -> command.getOffer().getAction().equals("undrain"));
    }

    @Test
    void theBreakerOpensAfterTheLastFailuresAndDoesNotStopReports() {
        inbox = new Inbox(withLimits("attempts-per-node-a-day: 50", "nic-fault: enforce"));
        for (String node : List.of("n1", "n2", "n3", "n4", "n5", "n6")) {
            inbox.say(report(node));
            hello(node, "start-1");
        }
        inbox.seconds(1, 0);
        for (String node : List.of("n1", "n2", "n3", "n4")) {
            inbox.say(report(node));
            inbox.say(nic(node, Standing.CONFIRMED));
            run(harmful(), ActionEnd.ACTION_FAILED);
            keepSeen(2);
            inbox.say(nic(node, Standing.WELL));
            keepSeen(121);
        }
        inbox.say(nic("n5", Standing.CONFIRMED));
        run(offered(), ActionEnd.ACTION_DONE);
        keepSeen(1);
        assertThat(incident().getHeldReason()).contains("the circuit breaker of bounce-nic is open");
    }

    @Test
    void everyStepIsTheSameForADeciderThatTakesOverInBetween() {
        begin(policy("nic-fault: enforce"), "n1");
        inbox.say(nic("n1", Standing.CONFIRMED));
        Command command = harmful();
        claim(command);
        InboxCore next = inbox.restarted();
        assertThat(next.ledger().values()).isEqualTo(inbox.core.ledger().values());
        long offset = inbox.log.size();
        ActionResult result = ActionResult.newBuilder()
                .setCommandId(command.getId())
                .setNode("n1")
                .setEnd(ActionEnd.ACTION_DONE)
                .build();
        long stamp = inbox.log.get(inbox.log.size() - 1).stampMs();
        next.onRecord(offset, stamp, result);
        assertThat(Objects.requireNonNull(next.ledger().command(command.getId()))
                        .getState())
                .isEqualTo(CommandState.COMMAND_DONE);
    }

    /** 750 of 1,500 nodes fault within one second. */
    @Test
    void whenHalfOfTheFleetFaultsEveryNodeIsJudgedAndTheGuardsAnswerIsInTheJournalWithinFiveSeconds() {
        int nodes = 1_500;
        String[] names = new String[nodes];
        for (int i = 0; i < nodes; i++) {
            names[i] = "n" + i;
        }
        begin(policy("nic-fault: enforce"), names);
        int before = inbox.journal.size();
        for (int i = 0; i < nodes / 2; i++) {
            inbox.say(nic(names[i], Standing.CONFIRMED));
        }
        inbox.seconds(5, 0);
        assertThat(inbox.core.ledger().openIncidents()).hasSize(nodes / 2);
        java.util.Set<String> answered = new java.util.HashSet<>();
        java.util.Set<String> acted = new java.util.HashSet<>();
        long first = inbox.journal.get(before).getLogTimeMs();
        for (JournalEntry entry : inbox.journal.subList(before, inbox.journal.size())) {
            boolean asked = entry.getGuardsList().stream()
                    .anyMatch(answer -> answer.getGuard().equals("blast-radius")
                            || answer.getGuard().equals("one-action"));
            if (asked && entry.getLogTimeMs() - first <= 5_000) {
                answered.add(entry.getIncident());
            }
            CommandRecords.of(entry).stream()
                    .filter(record -> record.message() instanceof Offer offer
                            && !offer.getAction().equals("collect-evidence"))
                    .forEach(record -> acted.add(record.key()));
        }
        assertThat(answered).hasSize(nodes / 2);
        assertThat(acted).hasSizeLessThanOrEqualTo(5);
    }

    @Test
    void whatNobodyOfferedIsRefusedByName() {
        begin(policy("nic-fault: enforce"), "n1");
        List<JournalEntry> entries = inbox.say(ActionResult.newBuilder()
                .setCommandId("no-such-1")
                .setNode("n1")
                .setEnd(ActionEnd.ACTION_DONE)
                .build());
        assertThat(entries).hasSize(1);
        assertThat(entries.get(0).getRefused()).isTrue();
        assertThat(entries.get(0).getSentence()).contains("no-such-1").contains("never offered");
    }

    private Policy withLimits(String limits, String mode) {
        try {
            return PlaybookText.read(
                    "test.yaml", "modes: {" + mode + "}\nlimits: {" + limits + "}\n", PlaybookText.shipped());
        } catch (BadPlaybooksException e) {
            throw new AssertionError(e);
        }
    }

    private static SchedulerFact fact(String node, String state, String reason, String who) {
        return SchedulerFact.newBuilder()
                .setScheduler("slurm")
                .setNode(node)
                .setNodeState(state)
                .setReason(reason)
                .setWho(who)
                .build();
    }

    /** Lets seconds pass with every node reporting. */
    private void keepSeen(int seconds) {
        for (int i = 0; i < seconds; i++) {
            for (var node : List.copyOf(inbox.core.ledger().nodes())) {
                inbox.say(report(node.getNode()));
            }
            inbox.seconds(1, 0);
        }
    }
}
