package dev.unhang.collector.source.nvml;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "dev.unhang.collector", importOptions = ImportOption.DoNotIncludeTests.class)
class JnaBoundaryTest {

    @ArchTest
    static final ArchRule nativeCallsStayInTheirTwoPackages = noClasses()
            .that()
            .resideOutsideOfPackages("..source.nvml..", "..source.libc..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.sun.jna..")
            .because("a wrong native call ends the process: NVML and the C library are called from one package each");
}
