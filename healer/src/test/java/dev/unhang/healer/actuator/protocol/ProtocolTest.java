package dev.unhang.healer.actuator.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ActionEnd;
import dev.unhang.events.v1.ActionResult;
import dev.unhang.events.v1.Claim;
import dev.unhang.events.v1.Grant;
import dev.unhang.events.v1.Offer;
import dev.unhang.events.v1.SignedGrant;
import dev.unhang.events.v1.Withdraw;
import dev.unhang.healer.command.Action;
import dev.unhang.healer.command.GrantSeal;
import dev.unhang.healer.command.ParameterHash;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProtocolTest {

    private static final long S = 1_000_000_000L;
    private static final ByteString BOOT = ByteString.copyFrom(new byte[16]);
    private static final KeyPair KEY = key();
    private static final KeyPair STRANGER = key();

    private int drawn;
    private final Protocol protocol = new Protocol(
            new Self("n1", BOOT, "start-1", "1.0"),
            Set.of(Action.LOOK, Action.RESTART_RANKS),
            Map.of("k1", KEY.getPublic()),
            () -> ByteString.copyFrom(new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (byte) ++drawn}));

    private static KeyPair key() {
        try {
            return KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Offer offer(String command) {
        return Offer.newBuilder()
                .setCommandId(command)
                .setNode("n1")
                .setAction("restart-ranks")
                .putParameters("processes", "x")
                .setTimeoutMs(30_000)
                .setEpoch(7)
                .build();
    }

    private static Grant.Builder grant(Claim claim) {
        return Grant.newBuilder()
                .setCommandId(claim.getCommandId())
                .setNode("n1")
                .setAction("restart-ranks")
                .setParametersHash(ParameterHash.of(Map.of("processes", "x")))
                .setNonce(claim.getNonce())
                .setEpoch(7);
    }

    private static SignedGrant sealed(Grant.Builder grant) {
        return GrantSeal.sign(grant.build(), KEY.getPrivate(), "k1");
    }

    private Claim claim(String command, long nowNs) {
        assertThat(protocol.onRecord(offer(command), nowNs)).containsExactly(new Effect.Ask(offer(command)));
        return told(protocol.onAnswer(command, Optional.empty(), nowNs), Claim.class);
    }

    private static <T> T told(List<Effect> effects, Class<T> type) {
        return effects.stream()
                .filter(Effect.Tell.class::isInstance)
                .map(effect -> ((Effect.Tell) effect).message())
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElseThrow(() -> new AssertionError("nothing of " + type.getSimpleName() + " in " + effects));
    }

    /** It is reported as refused, under this name, and counted; and nothing is begun or claimed by it. */
    private void refuses(List<Effect> effects, String command, Refusal refusal) {
        assertThat(effects).noneMatch(Effect.Begin.class::isInstance).hasSize(2);
        ActionResult result = told(effects, ActionResult.class);
        assertThat(result.getCommandId()).isEqualTo(command);
        assertThat(result.getEnd()).isEqualTo(ActionEnd.ACTION_REFUSED);
        assertThat(result.getDetail()).startsWith(refusal.label() + ": " + refusal.sentence());
        assertThat(result.getNode()).isEqualTo("n1");
        assertThat(result.getStartId()).isEqualTo("start-1");
        assertThat(result.getBootId()).isEqualTo(BOOT);
        assertThat(protocol.count(refusal)).isEqualTo(1);
    }

    /** It is only counted and told to the log. */
    private void onlyCounts(List<Effect> effects, Refusal refusal) {
        assertThat(effects)
                .singleElement()
                .isInstanceOfSatisfying(
                        Effect.Note.class, note -> assertThat(note.refusal()).isEqualTo(refusal));
        assertThat(protocol.count(refusal)).isEqualTo(1);
    }

    @Test
    void anOfferIsAskedAboutThenClaimedThenGrantedThenBegunAndItsEndIsTold() {
        Claim claim = claim("c-1", 0);
        assertThat(claim.getNode()).isEqualTo("n1");
        assertThat(claim.getNonce().size()).isEqualTo(16);
        assertThat(protocol.busyWith()).contains("c-1");

        assertThat(protocol.onRecord(sealed(grant(claim)), S))
                .containsExactly(new Effect.Begin(offer("c-1"), 5 * S, 30_000));

        ActionResult result =
                told(protocol.onEnded("c-1", ActionEnd.ACTION_DONE, "2 killed", 3 * S), ActionResult.class);
        assertThat(result.getEnd()).isEqualTo(ActionEnd.ACTION_DONE);
        assertThat(result.getDetail()).isEqualTo("2 killed");
        assertThat(result.getTookMs()).isEqualTo(2000);
        assertThat(protocol.busyWith()).isEmpty();
    }

    @Test
    void aGrantFiveSecondsAfterTheClaimIsInTime() {
        Claim claim = claim("c-1", 10 * S);
        assertThat(protocol.onTick(15 * S)).isEmpty();
        assertThat(protocol.onRecord(sealed(grant(claim)), 15 * S)).hasOnlyElementsOfType(Effect.Begin.class);
    }

    @Test
    void aGrantOneNanosecondLaterIsRefused() {
        Claim claim = claim("c-1", 10 * S);
        refuses(protocol.onRecord(sealed(grant(claim)), 15 * S + 1), "c-1", Refusal.LATE_GRANT);
        assertThat(protocol.busyWith()).isEmpty();
    }

    @Test
    void aClaimWithoutAGrantIsDroppedAfterFiveSecondsAndTold() {
        Claim claim = claim("c-1", 0);
        assertThat(protocol.onTick(5 * S)).isEmpty();
        refuses(protocol.onTick(5 * S + 1), "c-1", Refusal.NO_GRANT);
        assertThat(protocol.onTick(6 * S)).isEmpty();
        onlyCounts(protocol.onRecord(sealed(grant(claim)), 6 * S), Refusal.LATE_GRANT);
    }

    @Test
    void theTimeOfAClaimIsThatOfTheAnswerNotOfTheOffer() {
        protocol.onRecord(offer("c-1"), 0);
        Claim claim = told(protocol.onAnswer("c-1", Optional.empty(), 4 * S), Claim.class);
        assertThat(protocol.onRecord(sealed(grant(claim)), 9 * S))
                .containsExactly(new Effect.Begin(offer("c-1"), 9 * S, 30_000));
    }

    @Test
    void oneActionAtATimeWhetherAskedClaimedOrRunning() {
        protocol.onRecord(offer("c-1"), 0);
        refuses(protocol.onRecord(offer("c-2"), 0), "c-2", Refusal.BUSY);
        Claim claim = told(protocol.onAnswer("c-1", Optional.empty(), 0), Claim.class);
        told(protocol.onRecord(offer("c-3"), 0), ActionResult.class);
        protocol.onRecord(sealed(grant(claim)), 0);
        told(protocol.onRecord(offer("c-4"), 0), ActionResult.class);
        assertThat(protocol.count(Refusal.BUSY)).isEqualTo(3);
        protocol.onEnded("c-1", ActionEnd.ACTION_DONE, "", 0);
        assertThat(protocol.onRecord(offer("c-5"), 0)).containsExactly(new Effect.Ask(offer("c-5")));
    }

    @Test
    void anOfferAfterAClaimThatRanOutIsTakenUp() {
        claim("c-1", 0);
        List<Effect> effects = protocol.onRecord(offer("c-2"), 5 * S + 1);
        assertThat(told(effects, ActionResult.class).getCommandId()).isEqualTo("c-1");
        assertThat(effects).contains(new Effect.Ask(offer("c-2")));
    }

    @Test
    void aDoubleOfAnOfferDoesNothingNeverMindWhen() {
        Claim claim = claim("c-1", 0);
        assertThat(protocol.onRecord(offer("c-1"), 0)).isEmpty();
        protocol.onRecord(sealed(grant(claim)), 0);
        assertThat(protocol.onRecord(offer("c-1"), 0)).isEmpty();
        protocol.onEnded("c-1", ActionEnd.ACTION_DONE, "", 0);
        assertThat(protocol.onRecord(offer("c-1"), 0)).isEmpty();
    }

    @Test
    void aGrantThatComesTwiceBeginsOnce() {
        Claim claim = claim("c-1", 0);
        protocol.onRecord(sealed(grant(claim)), 0);
        onlyCounts(protocol.onRecord(sealed(grant(claim)), 0), Refusal.USED_NONCE);
        assertThat(told(protocol.onEnded("c-1", ActionEnd.ACTION_DONE, "", 0), ActionResult.class)
                        .getEnd())
                .isEqualTo(ActionEnd.ACTION_DONE);
    }

    @Test
    void aUsedGrantIsRefusedAlsoAfterItsActionHasEnded() {
        Claim claim = claim("c-1", 0);
        protocol.onRecord(sealed(grant(claim)), 0);
        protocol.onEnded("c-1", ActionEnd.ACTION_DONE, "", 0);
        claim("c-2", 0);
        onlyCounts(protocol.onRecord(sealed(grant(claim)), 0), Refusal.USED_NONCE);
        assertThat(protocol.busyWith()).contains("c-2");
    }

    @Test
    void aWithdrawnClaimIsDroppedAndItsGrantBeginsNothing() {
        Claim claim = claim("c-1", 0);
        assertThat(protocol.onRecord(Withdraw.newBuilder().setCommandId("c-1").build(), 0))
                .isEmpty();
        assertThat(protocol.busyWith()).isEmpty();
        onlyCounts(protocol.onRecord(sealed(grant(claim)), 0), Refusal.WITHDRAWN);
    }

    @Test
    void anOfferThatIsWithdrawnBeforeItsAnswerIsNotClaimed() {
        protocol.onRecord(offer("c-1"), 0);
        protocol.onRecord(Withdraw.newBuilder().setCommandId("c-1").build(), 0);
        assertThat(protocol.onAnswer("c-1", Optional.empty(), 0)).isEmpty();
        assertThat(protocol.busyWith()).isEmpty();
    }

    @Test
    void anOfferThatIsReadAfterItsWithdrawalIsPassedOver() {
        protocol.onRecord(Withdraw.newBuilder().setCommandId("c-1").build(), 0);
        assertThat(protocol.onRecord(offer("c-1"), 0)).isEmpty();
    }

    @Test
    void aWithdrawalOfWhatRunsOrOfAnotherCommandChangesNothing() {
        Claim claim = claim("c-1", 0);
        protocol.onRecord(Withdraw.newBuilder().setCommandId("c-2").build(), 0);
        assertThat(protocol.busyWith()).contains("c-1");
        protocol.onRecord(sealed(grant(claim)), 0);
        protocol.onRecord(Withdraw.newBuilder().setCommandId("c-1").build(), 0);
        assertThat(protocol.busyWith()).contains("c-1");
    }

    @Test
    void aGrantWithAnotherNonceIsAnotherExecutorsAndFreesUs() {
        Claim claim = claim("c-1", 0);
        ByteString other = ByteString.copyFrom(new byte[16]);
        onlyCounts(protocol.onRecord(sealed(grant(claim).setNonce(other)), 0), Refusal.OTHERS_CLAIM);
        assertThat(protocol.busyWith()).isEmpty();
        assertThat(protocol.onRecord(sealed(grant(claim)), 0)).noneMatch(Effect.Begin.class::isInstance);
    }

    @Test
    void aGrantForACommandThatWasNeverOfferedHereIsOnlyCounted() {
        Claim claim = Claim.newBuilder().setCommandId("c-9").build();
        onlyCounts(protocol.onRecord(sealed(grant(claim)), 0), Refusal.UNKNOWN_COMMAND);
    }

    @Test
    void aGrantWithAStrangersSealIsRefusedAndItsClaimIsOver() {
        Claim claim = claim("c-1", 0);
        SignedGrant forged = GrantSeal.sign(grant(claim).build(), STRANGER.getPrivate(), "k1");
        refuses(protocol.onRecord(forged, 0), "c-1", Refusal.BAD_SEAL);
        assertThat(protocol.onRecord(sealed(grant(claim)), 0)).noneMatch(Effect.Begin.class::isInstance);
    }

    @Test
    void aGrantWithAKeyThatIsNotTrustedSaysWhichKey() {
        Claim claim = claim("c-1", 0);
        List<Effect> effects = protocol.onRecord(GrantSeal.sign(grant(claim).build(), STRANGER.getPrivate(), "k2"), 0);
        refuses(effects, "c-1", Refusal.BAD_SEAL);
        assertThat(told(effects, ActionResult.class).getDetail()).contains("k2");
    }

    @Test
    void whatIsSignedAndNoGrantIsOnlyCounted() {
        SignedGrant nonsense = SignedGrant.newBuilder()
                .setGrant(ByteString.copyFrom(new byte[] {1, 2, 3}))
                .setKeyId("k1")
                .build();
        onlyCounts(protocol.onRecord(nonsense, 0), Refusal.BAD_SEAL);
    }

    @Test
    void aGrantForAnotherNodeIsRefused() {
        Claim claim = claim("c-1", 0);
        refuses(protocol.onRecord(sealed(grant(claim).setNode("n2")), 0), "c-1", Refusal.WRONG_NODE);
    }

    @Test
    void anOfferForAnotherNodeIsOnlyCounted() {
        onlyCounts(protocol.onRecord(offer("c-1").toBuilder().setNode("n2").build(), 0), Refusal.WRONG_NODE);
    }

    @Test
    void aGrantForAnotherActionIsRefused() {
        Claim claim = claim("c-1", 0);
        refuses(protocol.onRecord(sealed(grant(claim).setAction("look")), 0), "c-1", Refusal.WRONG_ACTION);
    }

    @Test
    void aGrantForOtherParametersIsRefused() {
        Claim claim = claim("c-1", 0);
        ByteString other = ParameterHash.of(Map.of("processes", "y"));
        refuses(protocol.onRecord(sealed(grant(claim).setParametersHash(other)), 0), "c-1", Refusal.WRONG_PARAMETERS);
    }

    @Test
    void aGrantOfALowerEpochThanWasReadIsRefusedAndOneOfTheSameIsNot() {
        Claim first = claim("c-1", 0);
        protocol.onRecord(sealed(grant(first).setEpoch(8)), 0);
        protocol.onEnded("c-1", ActionEnd.ACTION_DONE, "", 0);
        refuses(protocol.onRecord(sealed(grant(claim("c-2", 0)).setEpoch(7)), 0), "c-2", Refusal.OLD_EPOCH);
        assertThat(protocol.onRecord(sealed(grant(claim("c-3", 0)).setEpoch(8)), 0))
                .hasOnlyElementsOfType(Effect.Begin.class);
    }

    @Test
    void aGrantOfALowerEpochThanItsOfferIsRefused() {
        refuses(protocol.onRecord(sealed(grant(claim("c-1", 0)).setEpoch(6)), 0), "c-1", Refusal.OLD_EPOCH);
    }

    @Test
    void anEpochThatIsNotSealedIsNotBelieved() {
        protocol.onRecord(offer("c-1").toBuilder().setEpoch(-1).build(), 0);
        protocol.onRecord(Withdraw.newBuilder().setCommandId("c-1").build(), 0);
        protocol.onAnswer("c-1", Optional.empty(), 0);
        assertThat(protocol.onRecord(sealed(grant(claim("c-2", 0))), 0)).hasOnlyElementsOfType(Effect.Begin.class);
    }

    @Test
    void anActionThatNobodyKnowsIsRefused() {
        refuses(
                protocol.onRecord(offer("c-1").toBuilder().setAction("reboot").build(), 0),
                "c-1",
                Refusal.UNKNOWN_ACTION);
    }

    @Test
    void anActionThatIsNotAllowedHereIsRefused() {
        refuses(
                protocol.onRecord(
                        Offer.newBuilder(offer("c-1"))
                                .clearParameters()
                                .setAction("step-clock")
                                .build(),
                        0),
                "c-1",
                Refusal.NOT_ALLOWED);
    }

    @Test
    void anOfferWithAParameterThatItsActionDoesNotKnowOrWithoutTimeoutIsRefused() {
        refuses(
                protocol.onRecord(
                        offer("c-1").toBuilder().putParameters("force", "1").build(), 0),
                "c-1",
                Refusal.BAD_PARAMETERS);
        told(protocol.onRecord(offer("c-2").toBuilder().setTimeoutMs(0).build(), 0), ActionResult.class);
        assertThat(protocol.count(Refusal.BAD_PARAMETERS)).isEqualTo(2);
    }

    @Test
    void aPreconditionThatDoesNotHoldIsToldInItsOwnWords() {
        protocol.onRecord(offer("c-1"), 0);
        List<Effect> effects = protocol.onAnswer("c-1", Optional.of("the process is gone"), 0);
        refuses(effects, "c-1", Refusal.PRECONDITION);
        assertThat(told(effects, ActionResult.class).getDetail()).endsWith("(the process is gone)");
    }

    @Test
    void anAnswerThatDoesNotComeIsToldAfterTwentySecondsAndWeStayBusyUntilItDoes() {
        protocol.onRecord(offer("c-1"), 0);
        assertThat(protocol.onTick(20 * S)).isEmpty();
        refuses(protocol.onTick(20 * S + 1), "c-1", Refusal.NO_ANSWER);
        assertThat(protocol.onTick(21 * S)).isEmpty();
        refuses(protocol.onRecord(offer("c-2"), 21 * S), "c-2", Refusal.BUSY);
        assertThat(protocol.onAnswer("c-1", Optional.empty(), 22 * S)).isEmpty();
        assertThat(protocol.busyWith()).isEmpty();
    }

    @Test
    void theStopFileRefusesOffersAnswersAndGrants() {
        protocol.onLocalStop(true);
        refuses(protocol.onRecord(offer("c-1"), 0), "c-1", Refusal.LOCAL_STOP);
        protocol.onLocalStop(false);
        protocol.onRecord(offer("c-2"), 0);
        protocol.onLocalStop(true);
        assertThat(told(protocol.onAnswer("c-2", Optional.empty(), 0), ActionResult.class)
                        .getDetail())
                .startsWith("local-stop");
        protocol.onLocalStop(false);
        Claim claim = claim("c-3", 0);
        assertThat(told(protocol.onLocalStop(true), ActionResult.class).getCommandId())
                .isEqualTo("c-3");
        assertThat(protocol.onRecord(sealed(grant(claim)), 0)).noneMatch(Effect.Begin.class::isInstance);
        assertThat(protocol.count(Refusal.LOCAL_STOP)).isEqualTo(4);
    }

    @Test
    void theStopFileLeavesAloneWhatRuns() {
        Claim claim = claim("c-1", 0);
        protocol.onRecord(sealed(grant(claim)), 0);
        assertThat(protocol.onLocalStop(true)).isEmpty();
        assertThat(protocol.busyWith()).contains("c-1");
    }

    @Test
    void whatHasNotEndedTenSecondsAfterItsTimeIsUnknownAndItsEndIsToldWhenItComes() {
        Claim claim = claim("c-1", 0);
        protocol.onRecord(sealed(grant(claim)), S);
        assertThat(protocol.onTick(41 * S - 1)).isEmpty();
        assertThat(told(protocol.onTick(41 * S), ActionResult.class).getEnd()).isEqualTo(ActionEnd.ACTION_TIMED_OUT);
        assertThat(protocol.onTick(50 * S)).isEmpty();
        assertThat(protocol.busyWith()).contains("c-1");
        ActionResult end = told(protocol.onEnded("c-1", ActionEnd.ACTION_FAILED, "", 60 * S), ActionResult.class);
        assertThat(end.getEnd()).isEqualTo(ActionEnd.ACTION_FAILED);
        assertThat(end.getTookMs()).isEqualTo(59_000);
        assertThat(protocol.busyWith()).isEmpty();
    }

    @Test
    void anEndThatIsToldTwiceOrOfNothingThatRunsIsPassedOver() {
        Claim claim = claim("c-1", 0);
        assertThat(protocol.onEnded("c-1", ActionEnd.ACTION_DONE, "", 0)).isEmpty();
        protocol.onRecord(sealed(grant(claim)), 0);
        protocol.onEnded("c-1", ActionEnd.ACTION_DONE, "", 0);
        assertThat(protocol.onEnded("c-1", ActionEnd.ACTION_FAILED, "", 0)).isEmpty();
        assertThat(protocol.onAnswer("c-1", Optional.empty(), 0)).isEmpty();
    }

    @Test
    void eachClaimHasANonceOfItsOwn() {
        Claim first = claim("c-1", 0);
        protocol.onTick(6 * S);
        assertThat(claim("c-2", 6 * S).getNonce()).isNotEqualTo(first.getNonce());
    }

    @Test
    void theHelloNamesWhatIsAllowed() {
        assertThat(protocol.hello().getActionsList()).containsExactlyInAnyOrder("look", "restart-ranks");
        assertThat(protocol.hello().getStartId()).isEqualTo("start-1");
    }

    @Test
    void aTimeoutOfAgesIsADay() {
        assertThat(Reason.timeoutMs(Offer.newBuilder().setTimeoutMs(-1).build()))
                .isEqualTo(86_400_000);
        assertThat(Reason.timeoutMs(Offer.newBuilder().setTimeoutMs(1).build())).isEqualTo(1);
    }
}
