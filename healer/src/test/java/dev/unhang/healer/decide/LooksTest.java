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
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.IncidentState;
import dev.unhang.events.v1.RankProcess;
import dev.unhang.events.v1.Standing;
import dev.unhang.events.v1.Watch;
import dev.unhang.healer.policy.PlaybookText;
import dev.unhang.healer.policy.Policy;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The ranks of a suspected hang are looked at, in observe mode too, and that is no step of a ladder. */
class LooksTest {

    private static final ByteString BOOT = ByteString.copyFrom(new byte[16]);

    private Inbox inbox = new Inbox(PlaybookText.shipped().looking());
    private int nonces;

    private void begin(Policy policy, String... actions) {
        inbox = new Inbox(policy);
        inbox.say(inbox.report("n1", 0, Watch.WATCH_WATCHED).toBuilder()
                .setBootId(BOOT)
                .build());
        inbox.say(ActuatorHello.newBuilder()
                .setNode("n1")
                .setBootId(BOOT)
                .setStartId("start-1")
                .addAllActions(List.of(actions))
                .build());
        inbox.seconds(1, 0);
    }

    private Finding finding(IncidentKind kind, Standing standing, int pid) {
        return inbox.finding(0, kind, "job:train@0", standing, "n1").toBuilder()
                .setJob("train")
                .addProcesses(RankProcess.newBuilder()
                        .setNode("n1")
                        .setBootId(BOOT)
                        .setPid(pid)
                        .setStartTicks(99)
                        .setRank(1))
                .build();
    }

    private void hang(Standing standing) {
        inbox.say(finding(IncidentKind.JOB_HANG, standing, 4711));
    }

    private List<Command> commands() {
        return List.copyOf(inbox.core.ledger().commands());
    }

    private void claim(Command command) {
        byte[] nonce = new byte[16];
        nonce[0] = (byte) ++nonces;
        inbox.say(Claim.newBuilder()
                .setCommandId(command.getId())
                .setNode("n1")
                .setNonce(ByteString.copyFrom(nonce))
                .setBootId(BOOT)
                .setStartId("start-1")
                .build());
    }

    private CommandState state(Command command) {
        return Objects.requireNonNull(inbox.core.ledger().command(command.getId()))
                .getState();
    }

    @Test
    void aSuspectedHangIsLookedAtInObserveModeAndAgainAfterHalfAMinute() {
        begin(PlaybookText.shipped().looking(), "look");
        hang(Standing.SUSPECTED);
        inbox.seconds(3, 0);
        assertThat(commands()).hasSize(1);
        Command look = commands().get(0);
        assertThat(look.getId()).endsWith("-look-1");
        assertThat(look.getOffer().getAction()).isEqualTo("look");
        claim(look);
        assertThat(state(look)).isEqualTo(CommandState.COMMAND_GRANTED);
        inbox.say(ActionResult.newBuilder()
                .setCommandId(look.getId())
                .setNode("n1")
                .setEnd(ActionEnd.ACTION_DONE)
                .setStartId("start-1")
                .build());
        assertThat(state(look)).isEqualTo(CommandState.COMMAND_DONE);
        assertThat(inbox.core.ledger().openIncidents()).singleElement().satisfies(incident -> {
            assertThat(incident.getState()).isEqualTo(IncidentState.INCIDENT_SUSPECTED);
            assertThat(incident.getCommandsCount()).isZero();
            assertThat(incident.getAttempts()).isZero();
        });
        inbox.seconds(20, 0);
        assertThat(commands()).hasSize(1);
        inbox.say(inbox.report("n1", 0, Watch.WATCH_WATCHED).toBuilder()
                .setBootId(BOOT)
                .build());
        inbox.seconds(12, 0);
        assertThat(commands()).hasSize(2);
    }

    @Test
    void nothingIsLookedAtOnceItIsConfirmed() {
        begin(PlaybookText.shipped().looking(), "look");
        hang(Standing.CONFIRMED);
        inbox.seconds(10, 0);
        assertThat(commands()).isEmpty();
    }

    @Test
    void aLookThatIsClaimedTooLateIsWithdrawn() {
        begin(PlaybookText.shipped().looking(), "look");
        hang(Standing.SUSPECTED);
        inbox.seconds(3, 0);
        hang(Standing.CONFIRMED);
        claim(commands().get(0));
        assertThat(state(commands().get(0))).isEqualTo(CommandState.COMMAND_WITHDRAWN);
    }

    @Test
    void aLookAtAProcessThatIsNotTheOneAnyMoreIsWithdrawn() {
        begin(PlaybookText.shipped().looking(), "look");
        hang(Standing.SUSPECTED);
        inbox.seconds(3, 0);
        inbox.say(finding(IncidentKind.JOB_HANG, Standing.SUSPECTED, 4712).toBuilder()
                .addEvidence("rank 1 stopped before the others")
                .build());
        claim(commands().get(0));
        assertThat(state(commands().get(0))).isEqualTo(CommandState.COMMAND_WITHDRAWN);
    }

    @Test
    void whereNoActuatorAllowsItNobodyLooks() {
        begin(PlaybookText.shipped().looking(), "collect-evidence");
        hang(Standing.SUSPECTED);
        inbox.seconds(10, 0);
        assertThat(commands()).isEmpty();
    }

    @Test
    void withoutAKeyToSignWithNobodyLooks() {
        begin(PlaybookText.shipped(), "look");
        hang(Standing.SUSPECTED);
        inbox.seconds(10, 0);
        assertThat(commands()).isEmpty();
    }

    @Test
    void aSlowJobIsNotLookedAt() {
        begin(PlaybookText.shipped().looking(), "look");
        inbox.say(finding(IncidentKind.JOB_SLOW, Standing.SUSPECTED, 4711));
        inbox.seconds(10, 0);
        assertThat(commands()).isEmpty();
    }

    @Test
    void oneIncidentIsLookedAtFortyTimesAtMost() {
        begin(PlaybookText.shipped().looking(), "look");
        hang(Standing.SUSPECTED);
        for (int i = 0; i < 100; i++) {
            inbox.say(inbox.report("n1", 0, Watch.WATCH_WATCHED).toBuilder()
                    .setBootId(BOOT)
                    .build());
            inbox.seconds(20, 0);
        }
        assertThat(commands()).hasSize(Looks.MOST);
    }
}
