package dev.unhang.healer.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.unhang.events.Topic;
import dev.unhang.events.v1.Finding;
import dev.unhang.events.v1.IncidentKind;
import dev.unhang.events.v1.Pulse;
import dev.unhang.events.v1.Standing;
import io.micrometer.core.instrument.Meter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HealerMetricsTest {

    private static final Path PAGE = Path.of("..", "docs", "reference", "healer-metrics.md");

    private final Served served = new Served().caughtUp().node("node-1");

    @AfterEach
    void close() {
        served.close();
    }

    private void useAll() {
        served.incident(
                "nic-fault-1",
                IncidentKind.NIC_FAULT,
                dev.unhang.events.v1.IncidentState.INCIDENT_CONFIRMED,
                "node-1",
                "e");
        HealerMetrics metrics = served.metrics;
        metrics.recordRead("NodeSample");
        metrics.found(Finding.newBuilder()
                .setKind(IncidentKind.NIC_FAULT)
                .setStanding(Standing.SUSPECTED)
                .build());
        metrics.unreadable(Topic.DEAD_LETTERS);
        metrics.deadLetterWritten();
        metrics.skipped("dev.unhang.events.v1.Later");
        metrics.deciding(true);
        metrics.judged("node-1", Pulse.getDefaultInstance(), Duration.ofMillis(30));
        metrics.judged("node-1", Pulse.getDefaultInstance(), Duration.ofMillis(-30));
    }

    @Test
    void whatWasToldIsShown() {
        useAll();
        assertThat(served.metrics.scrape().lines())
                .contains(
                        "unhang_incidents_open{kind=\"nic-fault\",state=\"confirmed\"} 1.0",
                        "unhang_nodes{watch=\"watched\"} 1.0",
                        "unhang_nodes{watch=\"silent\"} 0.0",
                        "unhang_findings_total{kind=\"nic-fault\",standing=\"suspected\"} 1.0",
                        "unhang_records_read_total{type=\"NodeSample\"} 1.0",
                        "unhang_records_unreadable_total{topic=\"dead-letters\"} 1.0",
                        "unhang_dead_letters_total 1.0",
                        "unhang_records_skipped_total 1.0",
                        "unhang_decider_active 1.0",
                        "unhang_decider_epoch 7.0",
                        "unhang_log_time_seconds 90.0",
                        "unhang_decision_latency_seconds_count 2",
                        "unhang_decision_latency_seconds_bucket{le=\"0.01\"} 1",
                        "unhang_partition_covered_age_seconds{partition=\"0\"} 0.0",
                        "unhang_views_ready 1.0");
    }

    @Test
    void anIncidentThatClosedIsNotShownAsOpen() {
        useAll();
        assertThat(served.metrics.scrape()).contains("kind=\"nic-fault\",state=\"confirmed\"");
        served.incident(
                "nic-fault-1",
                IncidentKind.NIC_FAULT,
                dev.unhang.events.v1.IncidentState.INCIDENT_RESOLVED,
                "node-1",
                "e");
        assertThat(served.metrics.scrape()).doesNotContain("unhang_incidents_open{");
    }

    @Test
    void everyMeterOfOursIsNamedAndEveryNameIsAMeter() {
        useAll();
        served.metrics.scrape();
        Set<String> registered = served.metrics.registry().getMeters().stream()
                .map(Meter::getId)
                .map(Meter.Id::getName)
                .filter(name -> name.startsWith("unhang."))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(registered)
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(HealerMetrics.Name.values())
                        .map(name -> name.meter)
                        .toList());
        String text = served.metrics.scrape();
        for (HealerMetrics.Name name : HealerMetrics.Name.values()) {
            assertThat(text).as("name as exposed").contains("# HELP " + name.exposed() + " ");
        }
    }

    @Test
    void nodesAndJobsAreNeverTags() {
        useAll();
        assertThat(served.metrics.scrape()).doesNotContain("node-1").doesNotContain("train");
    }

    /** Run with -Dunhang.docs=write to print the page anew. */
    @Test
    void theReferencePageIsTheCodes() throws IOException {
        StringBuilder page = new StringBuilder();
        page.append("# Metrics of the healer\n\n")
                .append(
                        "`GET /metrics` with the bearer token gives them in Prometheus' text format. This page is printed")
                .append(" from the code (`HealerMetrics.Name`);\nchange it there and run")
                .append(" `mvn -pl healer -am test -Dtest=HealerMetricsTest -Dunhang.docs=write"
                        + " -Dsurefire.failIfNoSpecifiedTests=false`.\n\n")
                .append("Every instance shows what the log says; counters and the latency are of this instance alone.")
                .append(" No label is a node, GPU or job.\n\n")
                .append("| metric | type | labels | meaning |\n|---|---|---|---|\n");
        for (HealerMetrics.Name name : HealerMetrics.Name.values()) {
            page.append("| `").append(name.exposed()).append("` | ");
            page.append(
                    switch (name.kind) {
                        case GAUGE -> "gauge";
                        case COUNTER -> "counter";
                        case TIMER -> "histogram";
                    });
            page.append(" | ").append(name.tags.isEmpty() ? "" : "`" + name.tags.replace(", ", "`, `") + "`");
            page.append(" | ").append(name.meaning).append(" |\n");
        }
        page.append("\nBeside these: `jvm_memory_*`, `jvm_gc_*`, `jvm_threads_*`, `system_cpu_*`, `process_cpu_*` and")
                .append(" `process_uptime_seconds` of Micrometer.\n");
        if ("write".equals(System.getProperty("unhang.docs"))) {
            Files.createDirectories(PAGE.getParent());
            Files.writeString(PAGE, page);
        }
        assertThat(PAGE).as("run with -Dunhang.docs=write").hasContent(page.toString());
    }
}
