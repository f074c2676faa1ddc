package dev.unhang.healer.replay;

import com.google.protobuf.ListValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import com.google.protobuf.util.JsonFormat;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;

/** The labelled faults in a trace's header: for scoring only. */
record Labels(String trace, List<Fault> faults) {

    /** {@code cleared} is infinite for a fault that stays. A culprit of rank -1 is any rank of that node. */
    record Fault(String kind, double onset, double cleared, List<Culprit> culprits) {}

    record Culprit(String node, int rank) {}

    static Labels of(Path file) throws IOException {
        Struct.Builder header = Struct.newBuilder();
        try (BufferedReader reader = new BufferedReader(
                new InputStreamReader(new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.UTF_8))) {
            JsonFormat.parser().merge(reader.readLine(), header);
        }
        List<Fault> faults = new ArrayList<>();
        for (Value value : list(header.build(), "labels")) {
            Struct label = value.getStructValue();
            List<Culprit> culprits = new ArrayList<>();
            for (Value each : list(label, "suspects")) {
                Struct suspect = each.getStructValue();
                culprits.add(new Culprit(suspect.getFieldsOrThrow("node").getStringValue(), (int)
                        suspect.getFieldsOrThrow("rank").getNumberValue()));
            }
            for (Value node : list(label, "accept_nodes")) {
                culprits.add(new Culprit(node.getStringValue(), -1));
            }
            Value cleared = label.getFieldsOrThrow("cleared");
            faults.add(new Fault(
                    label.getFieldsOrThrow("kind").getStringValue(),
                    label.getFieldsOrThrow("onset").getNumberValue(),
                    cleared.hasNumberValue() ? cleared.getNumberValue() : Double.POSITIVE_INFINITY,
                    culprits));
        }
        return new Labels(header.getFieldsOrThrow("trace").getStringValue(), faults);
    }

    private static List<Value> list(Struct struct, String field) {
        return struct.getFieldsOrDefault(
                        field,
                        Value.newBuilder()
                                .setListValue(ListValue.getDefaultInstance())
                                .build())
                .getListValue()
                .getValuesList();
    }
}
