package dev.unhang.healer.act.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostListTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gpu-1 | gpu-1",
                "gpu-1,login | gpu-1 login",
                "gpu-[1-3] | gpu-1 gpu-2 gpu-3",
                "gpu-[008-010,7],login | gpu-008 gpu-009 gpu-010 gpu-7 login",
                "r[1-2]n[3-4].cluster | r1n3.cluster r1n4.cluster r2n3.cluster r2n4.cluster",
                "[1-2] | 1 2",
            })
    void theShortFormIsWrittenOut(String text, String names) {
        assertThat(HostList.expand(text)).containsExactly(names.split(" "));
    }

    @Test
    void noTextIsNoNode() {
        assertThat(HostList.expand("")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpu-[1-", "gpu-1]", "gpu-[1-[2]]", "gpu-[a-b]", "gpu-[3-1]", "a,,b", "a,", "gpu-[]"})
    void whatIsNoListIsTold(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> HostList.expand(text))
                .withMessageContaining("is no list of nodes");
    }

    @Test
    void aListOfMoreNodesThanAnyClusterHasIsRefused() {
        assertThat(HostList.expand("n[1-" + HostList.MOST + "]")).hasSize(HostList.MOST);
        assertThatIllegalArgumentException().isThrownBy(() -> HostList.expand("n[1-" + (HostList.MOST + 1) + "]"));
    }
}
