package dev.unhang.healer.actuator.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SystemCallTest {

    @ParameterizedTest
    @CsvSource({
        "1 0x3 0x7ffd 0x10 0x0 0x0 0x0 0x7ffd 0x7f11, amd64, write, 3",
        "74 0xff 0x0, amd64, fsync, 255",
        "202 0x7f00 0x80, amd64, futex, -1",
        "64 0x3 0x7ffd, aarch64, write, 3",
        "82 0x11 0x0, aarch64, fsync, 17",
        "98 0x7f00 0x80, aarch64, futex, -1",
        "399 0x3 0x0, amd64, call 399, -1"
    })
    void theCallAndItsDescriptorAreRead(String text, String arch, String name, int descriptor) {
        assertThat(SystemCall.parse(text, arch)).contains(new SystemCall(name, descriptor));
    }

    @Test
    void aNegativeDescriptorIsNone() {
        assertThat(SystemCall.parse("0 0xffffffffffffffff 0x0", "amd64")).contains(new SystemCall("read", -1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"running", "", "-1 0x7ffd 0x7f11", "1"})
    void aThreadThatIsInNoCallHasNone(String text) {
        assertThat(SystemCall.parse(text, "amd64")).isEmpty();
    }
}
