package dev.unhang.healer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.time.Clock;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Steps 4 and 5 of the path are pure functions of the log: this is where that is held. */
class PureCoreTest {

    private static final JavaClasses HEALER = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.unhang.healer");

    /** What an actuator decides by itself is simulated by seed, thousands at once. */
    private static final String PROTOCOL = "dev.unhang.healer.actuator.protocol..";

    private static final String[] CORE = {
        "dev.unhang.healer.detect..",
        "dev.unhang.healer.incident..",
        "dev.unhang.healer.command..",
        "dev.unhang.healer.policy..",
        "dev.unhang.healer.guard..",
        "dev.unhang.healer.decide..",
        PROTOCOL
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
                        "java.nio.file..",
                        "java.util.logging..")
                .orShould()
                .dependOnClassesThat(reachTheNetwork())
                .check(HEALER);
    }

    /** An address that is written out is parsed without asking anybody; that alone is allowed. */
    private static DescribedPredicate<JavaClass> reachTheNetwork() {
        Set<String> parsing = Set.of("java.net.InetAddress", "java.net.UnknownHostException");
        return DescribedPredicate.describe(
                "are of java.net and more than addresses",
                type -> type.getPackageName().startsWith("java.net") && !parsing.contains(type.getName()));
    }

    @Test
    void theCoreAsksNoClock() {
        noClasses()
                .that()
                .resideInAnyPackage(CORE)
                .and()
                .doNotHaveSimpleName("LogClock")
                .should()
                .callMethod(Instant.class, "now")
                .orShould()
                .callMethod(Instant.class, "now", Clock.class)
                .orShould()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .dependOnClassesThat(DescribedPredicate.describe(
                        "are clocks, but for the one that log time sets",
                        type -> type.isAssignableTo(Clock.class)
                                && !type.getSimpleName().equals("LogClock")
                                && !type.getName().equals(Clock.class.getName())))
                .orShould()
                .callMethodWhere(DescribedPredicate.describe(
                        "reads a system clock",
                        call -> call.getTargetOwner().isAssignableTo(Clock.class)
                                && !call.getTargetOwner().getSimpleName().equals("LogClock")))
                .check(HEALER);
    }

    @Test
    void theCoreKnowsNothingOfActuators() {
        noClasses()
                .that()
                .resideInAnyPackage(CORE)
                .and()
                .resideOutsideOfPackage(PROTOCOL)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.unhang.healer.actuator..")
                .check(HEALER);
    }

    @Test
    void theProtocolOfAnActuatorKnowsRecordsAndCommandsAlone() {
        classes()
                .that()
                .resideInAPackage(PROTOCOL)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "java.lang..",
                        "java.security..",
                        "java.util..",
                        "dev.unhang.events.v1..",
                        "com.google.protobuf..",
                        "org.jspecify..",
                        "dev.unhang.healer.command..",
                        PROTOCOL)
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
