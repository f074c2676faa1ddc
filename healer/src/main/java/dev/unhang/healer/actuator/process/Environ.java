package dev.unhang.healer.actuator.process;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Takes the named variables out of an environment block and nothing else, since users keep secrets in theirs. Pure. */
final class Environ {

    private Environ() {}

    static Map<String, String> named(byte[] block, Set<String> names) {
        Map<String, String> found = new HashMap<>();
        int from = 0;
        for (int at = 0; at <= block.length; at++) {
            if (at == block.length || block[at] == 0) {
                int equals = from;
                while (equals < at && block[equals] != '=') {
                    equals++;
                }
                String name = new String(block, from, equals - from, StandardCharsets.UTF_8);
                if (equals < at && names.contains(name)) {
                    byte[] value = Arrays.copyOfRange(block, equals + 1, at);
                    found.putIfAbsent(name, new String(value, StandardCharsets.UTF_8));
                }
                from = at + 1;
            }
        }
        return found;
    }
}
