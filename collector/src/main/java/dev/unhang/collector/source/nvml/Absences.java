package dev.unhang.collector.source.nvml;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What one GPU was found never to answer. Forgotten when the GPU's MIG mode changes, for then other calls work. Confined
 * to its GPU's worker.
 */
final class Absences {

    private final Map<Object, List<String>> fieldsOfAbsentSource = new HashMap<>();
    private Set<String> unsupported = Set.of();

    boolean isAbsent(Object source) {
        return fieldsOfAbsentSource.containsKey(source);
    }

    void add(Object source, String... fields) {
        fieldsOfAbsentSource.put(source, List.of(fields));
    }

    /** After a read: a field is unsupported when a source of it is absent and no other gave or may yet give it. */
    void unsupported(Set<String> got, Set<String> faulted) {
        Set<String> now = new TreeSet<>();
        for (List<String> fields : fieldsOfAbsentSource.values()) {
            for (String field : fields) {
                if (!got.contains(field) && !faulted.contains(field)) {
                    now.add(field);
                }
            }
        }
        if (!now.equals(unsupported)) {
            unsupported = now;
        }
    }

    /** Sorted. */
    Set<String> unsupported() {
        return unsupported;
    }

    void forget() {
        fieldsOfAbsentSource.clear();
        unsupported = Set.of();
    }
}
