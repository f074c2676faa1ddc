package dev.unhang.collector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.collector.serve.CollectorMetrics;
import dev.unhang.collector.serve.FakeServed;
import dev.unhang.settings.BadSettingsException;
import dev.unhang.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The reference pages are printed from the code; run with {@code -Dunhang.docs=write} to print them anew. */
class ReferencePagesTest {

    private static final Path FOLDER = Path.of("..", "docs", "reference");
    private static final String AGAIN = "`mvn -pl collector -am test -Dtest=ReferencePagesTest -Dunhang.docs=write"
            + " -Dsurefire.failIfNoSpecifiedTests=false`";

    @Test
    void thePageOfSettingsIsTheCodes() throws IOException, BadSettingsException {
        Settings settings = Settings.none(Map.of());
        CollectorConfig.read(settings, "the-host-name", false);
        StringBuilder page = new StringBuilder("# Settings of the collector\n\n")
                .append("One YAML file, kebab-case keys; `a.b-c` is the key `b-c` under `a`. Durations are written")
                .append(" `250ms`, `15s`, `10m`, `2h`; sizes `512KiB`, `64MiB`.\n")
                .append("The environment variable `UNHANG_A_B_C` overrides `a.b-c`. `unhang collector --config F")
                .append(" --check` tells all mistakes of a file at once, with their lines.\n\n")
                .append("This page is printed from the code (`CollectorConfig`); change it there and run\n")
                .append(AGAIN)
                .append(".\n\n| key | value | default | meaning |\n|---|---|---|---|\n");
        for (Settings.Key key : settings.keys()) {
            page.append("| `")
                    .append(key.name())
                    .append("` | ")
                    .append(key.type())
                    .append(" | ");
            page.append(key.fallback().isEmpty() ? "" : "`" + key.fallback() + "`");
            page.append(" | ").append(key.meaning()).append(" |\n");
        }
        compare("collector-settings.md", page.toString());
    }

    @Test
    void thePageOfMetricsIsTheCodes() throws IOException {
        StringBuilder page = new StringBuilder("# Metrics of the collector\n\n")
                .append(
                        "`GET /metrics` gives them in Prometheus' text format, from the last sample. What was not read is")
                .append(" absent, and never zero. They are served when Kafka is away, too.\n")
                .append(
                        "Labels are bounded: the GPUs (`gpu`, the UUID) and NICs (`nic`, PCI address and port; `device`,")
                .append(" the name) of one node, and the ranks that live on it.\n\n")
                .append("This page is printed from the code (`CollectorMetrics`); change it there and run\n")
                .append(AGAIN)
                .append(".\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n");
        for (CollectorMetrics.Meter meter : new CollectorMetrics(new FakeServed()).meters()) {
            page.append("| `").append(meter.shownName()).append("` | ");
            page.append(meter.counter() ? "counter" : "gauge").append(" | ");
            page.append(meter.labels().stream().map(label -> "`" + label + "`").collect(Collectors.joining(", ")));
            page.append(" | ").append(meter.meaning()).append(" |\n");
        }
        compare("collector-metrics.md", page.toString());
    }

    private static void compare(String name, String page) throws IOException {
        Path file = FOLDER.resolve(name);
        if ("write".equals(System.getProperty("unhang.docs"))) {
            Files.createDirectories(FOLDER);
            Files.writeString(file, page);
        }
        assertThat(file).as("run with -Dunhang.docs=write").hasContent(page);
    }
}
