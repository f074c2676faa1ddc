package dev.unhang.healer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.time.Clock;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Steps 4 and 5 of the path are pure functions of the log: this is where that is held. */
class PureCoreTest {

    private static final JavaClasses HEALER = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.unhang.healer");

    private static final String[] CORE = {
        "dev.unhang.healer.detect..",
        "dev.unhang.healer.incident..",
        "dev.unhang.healer.policy..",
        "dev.unhang.healer.guard..",
        "dev.unhang.healer.decide.."
    };

    @Test
    void detectorsKnowTheJdkTheRecordsAndEachOther() {
        classes()
                .that()
                .resideInAPackage("dev.unhang.healer.detect..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "java..",
                        "dev.unhang.events.v1..",
                        "com.google.protobuf..",
                        "org.jspecify..",
                        "dev.unhang.healer.detect..")
                .check(HEALER);
    }

    @Test
    void theCoreKnowsNoBrokerNoServerNoLoggerAndNoNativeCode() {
        noClasses()
                .that()
                .resideInAnyPackage(CORE)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "org.apache.kafka..",
                        "io.vertx..",
                        "io.micrometer..",
                        "com.sun.jna..",
                        "org.slf4j..",
                        "java.net..",
                        "java.nio.file..",
                        "java.util.logging..")
                .check(HEALER);
    }

    @Test
    void theCoreAsksNoClock() {
        noClasses()
                .that()
                .resideInAnyPackage(CORE)
                .should()
                .callMethod(Instant.class, "now")
                .orShould()
                .callMethod(Instant.class, "now", Clock.class)
                .orShould()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(Clock.class)
                .check(HEALER);
    }

    @Test
    void aNodesDetectorKnowsNothingOfJobs() {
        noClasses()
                .that()
                .resideInAPackage("dev.unhang.healer.detect.node..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.unhang.healer.detect.job..", "dev.unhang.healer.detect.fleet..")
                .check(HEALER);
    }
}
