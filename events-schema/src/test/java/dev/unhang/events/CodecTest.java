package dev.unhang.events;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.UnknownFieldSet;
import dev.unhang.events.Codec.Decoded;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Pulse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;

class CodecTest {

    private static final Pulse PULSE =
            Pulse.newBuilder().setOwner("healer-1").setGeneration(7).setSeq(42).build();

    @Test
    void aRecordComesBackWithItsIdAndSource() {
        assertThat(Codec.decode(headers(), PULSE.toByteArray()))
                .isEqualTo(new Decoded.Known("healer-1/42", "/healers/healer-1", PULSE));
    }

    @Test
    void theHeadersAreCloudEventsInBinaryMode() {
        assertThat(headers().toArray())
                .extracting(header -> header.key() + "=" + new String(header.value(), StandardCharsets.UTF_8))
                .containsExactly(
                        "ce_specversion=1.0",
                        "ce_id=healer-1/42",
                        "ce_source=/healers/healer-1",
                        "ce_type=dev.unhang.events.v1.Pulse",
                        "ce_time=2026-01-02T03:04:05Z",
                        "content-type=application/protobuf");
    }

    @Test
    void aFieldOfANewerVersionIsKept() {
        Pulse newer = PULSE.toBuilder()
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(
                                999,
                                UnknownFieldSet.Field.newBuilder().addVarint(5).build())
                        .build())
                .build();
        Decoded decoded = Codec.decode(headers(), newer.toByteArray());
        assertThat(decoded)
                .isInstanceOfSatisfying(
                        Decoded.Known.class,
                        known -> assertThat(known.message().toByteArray()).isEqualTo(newer.toByteArray()));
    }

    @Test
    void aTypeOfOursThatThisVersionDoesNotKnowIsSkipped() {
        assertThat(Codec.decode(typed("dev.unhang.events.v1.Horoscope"), new byte[] {1}))
                .isEqualTo(new Decoded.Skipped("dev.unhang.events.v1.Horoscope"));
    }

    @Test
    void aVersionOfTheSchemaThatThisVersionDoesNotKnowIsSkipped() {
        assertThat(Codec.decode(typed("dev.unhang.events.v2.Pulse"), PULSE.toByteArray()))
                .isEqualTo(new Decoded.Skipped("dev.unhang.events.v2.Pulse"));
    }

    @Test
    void aForeignTypeIsUnreadableAndNamed() {
        assertUnreadable(Codec.decode(typed("com.example.Order"), PULSE.toByteArray()), "com.example.Order");
    }

    @Test
    void aForeignTypeIsNamedInEightyCharactersAtMost() {
        Decoded decoded = Codec.decode(typed("x".repeat(80) + "y"), new byte[0]);
        assertUnreadable(decoded, "x".repeat(80) + "…");
        assertUnreadable(Codec.decode(typed("x".repeat(80)), new byte[0]), "x".repeat(80));
    }

    @Test
    void aRecordWithoutHeadersIsUnreadable() {
        assertUnreadable(Codec.decode(new RecordHeaders(), PULSE.toByteArray()), "no ce_type header");
    }

    @Test
    void aTypeHeaderWithoutAValueIsUnreadable() {
        assertUnreadable(
                Codec.decode(new RecordHeaders().add("ce_type", null), PULSE.toByteArray()), "no ce_type header");
    }

    @Test
    void aRecordWithoutAValueIsUnreadable() {
        assertUnreadable(Codec.decode(headers(), null), "no value for dev.unhang.events.v1.Pulse");
    }

    @Test
    void aTruncatedMessageIsUnreadableWithItsSize() {
        byte[] whole = PULSE.toByteArray();
        byte[] truncated = Arrays.copyOf(whole, whole.length - 1);
        assertUnreadable(
                Codec.decode(headers(), truncated), "dev.unhang.events.v1.Pulse of " + truncated.length + " bytes: ");
    }

    @Test
    void noBytesAtAllAreAnEmptyMessage() {
        assertThat(Codec.decode(headers(), new byte[0]))
                .isEqualTo(new Decoded.Known("healer-1/42", "/healers/healer-1", Pulse.getDefaultInstance()));
    }

    @Test
    void whatIsNoProtobufIsUnreadable() {
        byte[] text = "not a protobuf message".getBytes(StandardCharsets.UTF_8);
        assertUnreadable(Codec.decode(typed("dev.unhang.events.v1.NodeSample"), text), "NodeSample of 22 bytes");
    }

    @Test
    void aMissingIdOrSourceIsEmptyAndNoFault() {
        assertThat(Codec.decode(typed("dev.unhang.events.v1.Pulse"), PULSE.toByteArray()))
                .isEqualTo(new Decoded.Known("", "", PULSE));
    }

    @Test
    void theLastOfTwoEqualHeadersCounts() {
        Headers headers = typed("com.example.Order").add("ce_type", utf8("dev.unhang.events.v1.Pulse"));
        assertThat(Codec.decode(headers, PULSE.toByteArray())).isInstanceOf(Decoded.Known.class);
    }

    @Test
    void theTypesAreOfThisVersion() {
        assertThat(Codec.types())
                .contains(Codec.TYPE_PREFIX + NodeSample.getDescriptor().getName());
        assertThat(Codec.types()).doesNotHaveDuplicates().allMatch(type -> type.startsWith("dev.unhang.events.v1."));
    }

    private static Headers headers() {
        return Codec.headers(PULSE, "healer-1/42", "/healers/healer-1", Instant.parse("2026-01-02T03:04:05Z"));
    }

    private static Headers typed(String type) {
        return new RecordHeaders().add("ce_type", utf8(type));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void assertUnreadable(Decoded decoded, String reason) {
        assertThat(decoded)
                .isInstanceOfSatisfying(
                        Decoded.Unreadable.class,
                        unreadable -> assertThat(unreadable.reason()).contains(reason));
    }
}
