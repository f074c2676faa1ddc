package dev.unhang.healer.intake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.Codec;
import dev.unhang.events.v1.Learned;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.Pulse;
import org.junit.jupiter.api.Test;

class NodeKeyTest {

    private static final Codec.Decoded SAMPLE =
            new Codec.Decoded.Known("id", "/nodes/a", NodeSample.getDefaultInstance());

    @Test
    void whatACollectorAllowsAsItsNameIsTaken() {
        for (String name : new String[] {"a", "vm", "gpu-07.rack_3.example.org", "9", "n".repeat(253)}) {
            assertThat(NodeKey.checked(name, SAMPLE)).isSameAs(SAMPLE);
        }
    }

    @Test
    void aNameThatNoNodeCanHaveIsUnreadable() {
        for (String name : new String[] {
            "",
            " ",
            "-a",
            "a b",
            "a\nFAKE",
            "\u001b[31m",
            "\u202eevil",
            "<script>",
            "../etc",
            "caf\u00e9",
            "n".repeat(254)
        }) {
            assertThat(NodeKey.checked(name, SAMPLE)).isInstanceOf(Codec.Decoded.Unreadable.class);
        }
        assertThat(NodeKey.checked(null, SAMPLE)).isInstanceOf(Codec.Decoded.Unreadable.class);
    }

    @Test
    void healersNameNoNodeAndWhatWasNotReadStaysAsItIs() {
        Codec.Decoded pulse = new Codec.Decoded.Known("", "/healers/h", Pulse.getDefaultInstance());
        Codec.Decoded learned = new Codec.Decoded.Known("", "/healers/h", Learned.getDefaultInstance());
        Codec.Decoded skipped = new Codec.Decoded.Skipped("dev.unhang.events.v9.Later");

        assertThat(NodeKey.checked(null, pulse)).isSameAs(pulse);
        assertThat(NodeKey.checked(null, learned)).isSameAs(learned);
        assertThat(NodeKey.checked(null, skipped)).isSameAs(skipped);
    }
}
