package dev.unhang.collector;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The layout of the collector, held by the build. */
@AnalyzeClasses(packages = "dev.unhang.collector", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule sourcesKnowNothingOfKafkaOrTimers = noClasses()
            .that()
            .resideInAPackage("..source..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.apache.kafka..",
                    "io.vertx..",
                    "..collector.sample..",
                    "..collector.publish..",
                    "..collector.serve..")
            .because("a source reads, and nothing else");

    @ArchTest
    static final ArchRule sourcesDoNotKnowEachOtherInCircles =
            slices().matching("dev.unhang.collector.source.(*)..").should().beFreeOfCycles();
}
