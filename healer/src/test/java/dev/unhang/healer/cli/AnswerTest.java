package dev.unhang.healer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.healer.text.SafeText;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class AnswerTest {

    @Test
    void jsonThatWasMadeSafeIsStillTheSameJson() throws IOException {
        String json = "{\"a\":\"x\u202ey\u009bz\udb40\udc41\"}";
        assertThat(Answer.read(SafeText.json(json)).text("a"))
                .isEqualTo(Answer.read(json).text("a"));
    }
}
