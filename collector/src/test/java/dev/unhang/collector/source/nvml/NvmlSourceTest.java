package dev.unhang.collector.source.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.unhang.collector.source.Source.Reading;
import dev.unhang.events.v1.FieldFault;
import dev.unhang.events.v1.GpuInventory;
import dev.unhang.events.v1.GpuReading;
import dev.unhang.events.v1.NodeInventory;
import dev.unhang.events.v1.NodeSample;
import dev.unhang.events.v1.ReadStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a GPU answers becomes what a sample says; each through the real JNA path into a C library. */
class NvmlSourceTest {

    private static final Set<Integer> ALIVE = Set.of(100, 200, 300);

    @TempDir
    Path folder;

    private final AtomicLong nanos = new AtomicLong(-5_000_000_000L);
    private NvmlSource source = new NvmlSource(NvmlConfig.DEFAULT, NvmlHost.real(), nanos::get);

    @AfterEach
    void closeAndLookForViolations() {
        source.close();
        assertThat(FakeNvml.in(folder).log())
                .noneMatch(line -> line.contains("VIOLATION"))
                .filteredOn(line -> line.startsWith("unloaded"))
                .containsOnly("unloaded refs=0");
    }

    private NvmlSource over(FakeNvml nvml) {
        source = new NvmlSource(
                new NvmlConfig(nvml.library(), Duration.ofSeconds(20), Duration.ofSeconds(30)),
                new NvmlHost(ALIVE::contains, folder.resolve("pci")),
                nanos::get);
        return source;
    }

    private NvmlSource over(String... script) {
        return over(FakeNvml.in(folder).script(script));
    }

    private GpuReading read() {
        NodeSample part = source.read().part();
        assertThat(part.getGpusList()).hasSize(1);
        return part.getGpus(0);
    }

    private GpuReading readAfter(Duration duration) {
        nanos.addAndGet(duration.toNanos());
        return read();
    }

    private static GpuInventory inventory(Reading reading) {
        return Objects.requireNonNull(reading.inventory()).getGpus(0);
    }

    @Test
    void aHealthyH200IsReadWhole() {
        GpuReading gpu = over(
                        "gpu.field.83 = 123456789",
                        "gpu.field.138 = 1000",
                        "gpu.field.139 = 2000",
                        "gpu.field.197 = 4294967295",
                        "gpu.field.198 = 4294967294",
                        "gpu.field.94 = 3",
                        "gpu.field.4 = 2",
                        "gpu.field.161.3 = 5",
                        "gpu.field.162.4 = 6",
                        "gpu.field.163.5 = 7",
                        "gpu.pids = 100 200",
                        "gpu.mps = 300")
                .read()
                .part()
                .getGpus(0);
        assertThat(gpu.getUuid()).isEqualTo(KnownGpus.uuidBytes("GPU-00000001-0000-4000-8000-000000000001"));
        assertThat(gpu.getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
        assertThat(gpu.getCode()).isZero();
        assertThat(gpu.getFaultsList()).isEmpty();
        assertThat(gpu.getUtil()).isEqualTo(97);
        assertThat(gpu.getMemUtil()).isEqualTo(41);
        assertThat(gpu.getEnergyMj()).isEqualTo(123456789);
        assertThat(gpu.getPowerMw()).isEqualTo(640000);
        assertThat(gpu.getSmMhz()).isEqualTo(1980);
        assertThat(gpu.getMemMhz()).isEqualTo(3201);
        assertThat(gpu.getTempC()).isEqualTo(54);
        assertThat(gpu.getTempMarginC()).isEqualTo(33);
        assertThat(gpu.getMemUsedMib()).isEqualTo(88 << 10);
        assertThat(gpu.getNvlinkTxKib()).isEqualTo(1000);
        assertThat(gpu.getNvlinkRxKib()).isEqualTo(2000);
        assertThat(Integer.toUnsignedLong(gpu.getPcieTxB32())).isEqualTo(4294967295L);
        assertThat(Integer.toUnsignedLong(gpu.getPcieRxB32())).isEqualTo(4294967294L);
        assertThat(gpu.getPidsList()).containsExactly(100, 200, 300);
        assertThat(gpu.getEventReasons()).isEqualTo(4);
        assertThat(gpu.getPcieReplays()).isEqualTo(3);
        assertThat(gpu.getRecoveryAction()).isZero();
        assertThat(gpu.getRemapPending()).isZero();
        assertThat(gpu.getRemapFailure()).isZero();
        assertThat(gpu.getEccDbeVolatile()).isEqualTo(2);
        assertThat(gpu.getNvlinksDown()).isZero();
        assertThat(gpu.getNvlinkErrors()).isEqualTo(18);
        assertThat(gpu.getPersistenceMode()).isEqualTo(1);
        assertThat(gpu.getMigList()).isEmpty();
    }

    @Test
    void theInventoryTellsWhatItIsAndComesOnlyWhenItChanges() throws IOException {
        Path numa = folder.resolve("pci").resolve("0000:1a:00.0").resolve("numa_node");
        Files.createDirectories(Objects.requireNonNull(numa.getParent()));
        Files.writeString(numa, "1\n");
        FakeNvml nvml = FakeNvml.in(folder).script("gpus = 2");
        Reading first = over(nvml).read();
        NodeInventory inventory = Objects.requireNonNull(first.inventory());
        assertThat(inventory.getDriverVersion()).isEqualTo("580.159.04");
        assertThat(inventory.getNvmlVersion()).isEqualTo("13.580.159.04");
        assertThat(inventory.getCudaVersion()).isEqualTo(13000);
        assertThat(inventory.getGpusList())
                .extracting(GpuInventory::getPci, GpuInventory::getIndex, GpuInventory::getNumaNode)
                .containsExactly(tuple("0000:1a:00", 0, 1), tuple("0000:1b:00", 1, -1));
        GpuInventory gpu = inventory.getGpus(0);
        assertThat(gpu.getName()).isEqualTo("NVIDIA H200");
        assertThat(gpu.getVbios()).isEqualTo("96.00.A5.00.01");
        assertThat(gpu.getPowerLimitMw()).isEqualTo(700000);
        assertThat(gpu.getMemoryMib()).isEqualTo(150754820096L >> 20);
        assertThat(gpu.getNvlinks()).isEqualTo(18);
        assertThat(gpu.getMig()).isFalse();
        assertThat(gpu.getPcieGenMax()).isEqualTo(5);
        assertThat(gpu.getPcieWidthMax()).isEqualTo(16);
        assertThat(gpu.getMaxSmMhz()).isEqualTo(1980);
        assertThat(gpu.getSerialHash()).hasSize(8).doesNotContain("1650");
        assertThat(gpu.getUnsupportedList()).isEmpty();

        assertThat(source.read().inventory()).isNull();
        nvml.script("gpus = 2", "gpu0.power_limit = 500000");
        nanos.addAndGet(Duration.ofSeconds(59).toNanos());
        assertThat(source.read().inventory()).isNull();
        nanos.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(inventory(source.read()).getPowerLimitMw()).isEqualTo(500000);
    }

    @Test
    void aFieldThatIsNotSupportedIsAskedOnceAndListed() {
        FakeNvml nvml = FakeNvml.in(folder)
                .script(
                        "gpu.field.230 = error 3",
                        "gpu.call.nvmlDeviceGetMarginTemperature = 3",
                        "gpu.call.nvmlDeviceGetMemoryInfo_v2 = 3",
                        "gpu.call.nvmlDeviceGetMemoryInfo = 3");
        Reading reading = over(nvml).read();
        GpuReading gpu = reading.part().getGpus(0);
        assertThat(gpu.getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
        assertThat(gpu.getRecoveryAction()).isZero();
        assertThat(gpu.hasTempMarginC()).isFalse();
        assertThat(gpu.hasMemUsedMib()).isFalse();
        assertThat(gpu.getFaultsList()).isEmpty();
        assertThat(inventory(reading).getUnsupportedList())
                .containsExactly("mem_used_mib", "recovery_action", "temp_margin_c");

        nvml.script("gpu.field.230 = 1");
        gpu = readAfter(Duration.ofSeconds(10));
        assertThat(gpu.getRecoveryAction()).isZero();
        assertThat(gpu.hasTempMarginC()).isFalse();
        assertThat(gpu.hasUtil()).isTrue();
    }

    @Test
    void anOlderWayIsTakenWhereAFieldIsNotSupported() {
        Reading reading = over(
                        "gpu.field.83 = error 3",
                        "gpu.energy = 77",
                        "gpu.field.186 = error 3",
                        "gpu.power = 88",
                        "gpu.field.94 = error 2",
                        "gpu.replays = 9",
                        "gpu.field.144 = error 3",
                        "gpu.field.145 = error 3",
                        "gpu.remap.pending = 1",
                        "gpu.remap.failed = 1",
                        "gpu.call.nvmlDeviceGetTemperatureV = 25",
                        "gpu.call.nvmlDeviceGetMemoryInfo_v2 = 25")
                .read();
        for (GpuReading gpu : List.of(reading.part().getGpus(0), read())) {
            assertThat(gpu.getEnergyMj()).isEqualTo(77);
            assertThat(gpu.getPowerMw()).isEqualTo(88);
            assertThat(gpu.getPcieReplays()).isEqualTo(9);
            assertThat(gpu.getRemapPending()).isEqualTo(1);
            assertThat(gpu.getRemapFailure()).isEqualTo(1);
            assertThat(gpu.getTempC()).isEqualTo(54);
            assertThat(gpu.getMemUsedMib()).isEqualTo((88 << 10) + 600);
            assertThat(gpu.getFaultsList()).isEmpty();
        }
        assertThat(inventory(reading).getUnsupportedList()).isEmpty();
    }

    @Test
    void anOldDriverWithoutTheNewerSymbolsIsReadThroughTheOlder() {
        FakeNvml nvml = FakeNvml.oldDriverIn(folder).script("gpu.pids = 100 200");
        Reading reading = over(nvml).read();
        GpuReading gpu = reading.part().getGpus(0);
        assertThat(gpu.getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
        assertThat(gpu.getTempC()).isEqualTo(54);
        assertThat(gpu.getEventReasons()).isEqualTo(4);
        assertThat(gpu.getPidsList()).containsExactly(100, 200);
        assertThat(gpu.hasMemUsedMib()).isTrue();
        assertThat(gpu.getFaultsList()).isEmpty();
        assertThat(inventory(reading).getUnsupportedList()).containsExactly("temp_margin_c");
        assertThat(inventory(reading).getMig()).isFalse();
    }

    @Test
    void oneIdThatTheDriverDoesNotKnowCostsOnlyItself() {
        Reading reading = over("fields.invalid = 230").read();
        GpuReading gpu = reading.part().getGpus(0);
        assertThat(gpu.getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
        assertThat(gpu.getRecoveryAction()).isZero();
        assertThat(gpu.getPowerMw()).isEqualTo(640000);
        assertThat(gpu.getFaultsList()).isEmpty();
        assertThat(inventory(reading).getUnsupportedList()).containsExactly("recovery_action");
    }

    @Test
    void aFieldThatFailsIsAFaultOfThatFieldAndAskedAgain() {
        FakeNvml nvml = FakeNvml.in(folder).script("gpu.field.186 = error 999");
        over(nvml);
        GpuReading gpu = read();
        assertThat(gpu.getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
        assertThat(gpu.getFaultsList())
                .containsExactly(FieldFault.newBuilder()
                        .setField("power_mw")
                        .setStatus(ReadStatus.READ_STATUS_FAILED)
                        .setCode(999)
                        .build());
        nvml.script("gpu.field.186 = 500");
        assertThat(read().getPowerMw()).isEqualTo(500);
    }

    @Test
    void aLostGpuIsAReadingThatKeepsItsNameAndItsCode() {
        FakeNvml nvml = FakeNvml.in(folder).script("gpus = 2");
        over(nvml).read();
        nvml.script("gpus = 2", "gpu1.return = 15");
        NodeSample part = source.read().part();
        assertThat(part.getGpusList())
                .extracting(GpuReading::getStatus, GpuReading::getCode, GpuReading::hasUtil)
                .containsExactly(
                        tuple(ReadStatus.READ_STATUS_OK, 0, true),
                        tuple(ReadStatus.READ_STATUS_GPU_IS_LOST, 15, false));
        assertThat(part.getGpus(1).getUuid())
                .isEqualTo(KnownGpus.uuidBytes("GPU-00000002-0000-4000-8000-000000000002"));
        assertThat(part.getGpus(1).getFaultsList()).isEmpty();
        assertThat(part.getGpus(1).hasPersistenceMode()).isFalse();
        assertThat(part.getSourcesList()).isEmpty();
    }

    @Test
    void aGpuThatIsLostBeforeWeEverSawItIsStillToldOf() {
        over("gpus = 2", "gpu1.return = 15");
        NodeSample part = source.read().part();
        assertThat(part.getGpusList())
                .extracting(GpuReading::getStatus, gpu -> gpu.getUuid().isEmpty())
                .containsExactly(
                        tuple(ReadStatus.READ_STATUS_OK, false), tuple(ReadStatus.READ_STATUS_GPU_IS_LOST, true));
    }

    @Test
    void aGpuThatNeedsAResetSaysSoAndWhatItStillAnswersIsKept() {
        over("gpu.call.nvmlDeviceGetUtilizationRates = 16");
        GpuReading gpu = read();
        assertThat(gpu.getStatus()).isEqualTo(ReadStatus.READ_STATUS_RESET_REQUIRED);
        assertThat(gpu.getCode()).isEqualTo(16);
        assertThat(gpu.hasUtil()).isFalse();
        assertThat(gpu.getPowerMw()).isEqualTo(640000);
    }

    @Test
    void aGpuThatAnswersNothingButUnknownHasFailed() {
        FakeNvml nvml = FakeNvml.in(folder);
        over(nvml);
        read();
        nvml.script("gpu.return = 999");
        GpuReading gpu = read();
        assertThat(gpu.getStatus()).isEqualTo(ReadStatus.READ_STATUS_FAILED);
        assertThat(gpu.getCode()).isEqualTo(999);
        nvml.script("gpu.return = 3");
        assertThat(read().hasUtil()).isFalse();
        nvml.script();
        assertThat(read().hasUtil())
                .as("a GPU that refused everything for a while is not held to be without sensors")
                .isTrue();
    }

    @Test
    void impossibleValuesAreDroppedAndSaidSo() {
        over(
                "gpu.util = 808334905",
                "gpu.mem_util = 101",
                "gpu.total = 18446744073709551615",
                "gpu.used = 18446744073709551615",
                "gpu.temp = 151",
                "gpu.margin = -151",
                "gpu.sm = 10001",
                "gpu.reasons = 18446744073709551615",
                "gpu.field.83 = ull 9223372036854775794",
                "gpu.field.4 = ull 9223372036854775792",
                "gpu.field.138 = ull 18446744073709551615",
                "gpu.field.139 = double 140737488355328.0",
                "gpu.field.186 = uint 4294967295",
                "gpu.field.94 = uint 2147483632",
                "gpu.field.144 = 2",
                "gpu.field.145 = type9 1",
                "gpu.field.230 = sint -1");
        GpuReading gpu = read();
        assertThat(gpu.getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
        assertThat(gpu.getFaultsList()).allMatch(fault -> fault.getStatus() == ReadStatus.READ_STATUS_OUT_OF_RANGE);
        assertThat(gpu.getFaultsList())
                .extracting(FieldFault::getField)
                .containsExactlyInAnyOrder(
                        "util",
                        "mem_util",
                        "mem_used_mib",
                        "temp_c",
                        "temp_margin_c",
                        "sm_mhz",
                        "event_reasons",
                        "energy_mj",
                        "ecc_dbe_volatile",
                        "nvlink_tx_kib",
                        "nvlink_rx_kib",
                        "power_mw",
                        "pcie_replays",
                        "remap_pending",
                        "remap_failure",
                        "recovery_action");
        assertThat(gpu.hasUtil() || gpu.hasMemUtil() || gpu.hasMemUsedMib() || gpu.hasTempC() || gpu.hasEnergyMj())
                .isFalse();
        assertThat(gpu.getEventReasons()).isZero();
    }

    @Test
    void valuesAtTheirLimitsAreValues() {
        over(
                "gpu.util = 100",
                "gpu.mem_util = 0",
                "gpu.used = 150754820096",
                "gpu.temp = 150",
                "gpu.margin = -5",
                "gpu.sm = 10000",
                "gpu.field.94 = 2147483631",
                "gpu.field.144 = 1",
                "gpu.field.83 = ull 4611686018427387904");
        GpuReading gpu = read();
        assertThat(gpu.getFaultsList()).isEmpty();
        assertThat(gpu.getUtil()).isEqualTo(100);
        assertThat(gpu.hasMemUtil()).isTrue();
        assertThat(gpu.getTempMarginC()).isEqualTo(-5);
        assertThat(gpu.getEnergyMj()).isEqualTo(1L << 62);
    }

    @Test
    void aValueIsReadByTheTypeThatTheDriverGivesIt() {
        over("gpu.field.186 = double 121500.4", "gpu.field.83 = ushort 65535", "gpu.field.94 = ulong 5");
        GpuReading gpu = read();
        assertThat(gpu.getPowerMw()).isEqualTo(121500);
        assertThat(gpu.getEnergyMj()).isEqualTo(65535);
        assertThat(gpu.getPcieReplays()).isEqualTo(5);
    }

    @Test
    void processEntriesOf32BytesAreTold() {
        over("process.size = 32", "gpu.pids = 100 200 300");
        assertThat(read().getPidsList()).containsExactly(100, 200, 300);
    }

    @Test
    void aLongProcessListIsReadWhole() {
        String many =
                IntStream.rangeClosed(1001, 1040).mapToObj(Integer::toString).collect(Collectors.joining(" "));
        over("gpu.pids = " + many, "gpu.mps = 1040 1041");
        assertThat(read().getPidsList()).hasSize(41);
    }

    @Test
    void underMigUtilisationIsUnknownAndTheInstancesAreListed() {
        FakeNvml nvml = FakeNvml.in(folder).script("gpu.mig = 1", "gpu.mig.count = 2", "gpu.pids = 100 200");
        Reading reading = over(nvml).read();
        GpuReading gpu = reading.part().getGpus(0);
        assertThat(gpu.hasUtil()).isFalse();
        assertThat(gpu.hasMemUtil()).isFalse();
        assertThat(gpu.getFaultsList()).isEmpty();
        assertThat(gpu.getPidsList()).containsExactly(100, 200);
        assertThat(gpu.getMigList())
                .extracting(mig ->
                        tuple(mig.getGpuInstance(), mig.getComputeInstance(), mig.getUuid(), mig.getMemUsedMib()))
                .containsExactly(
                        tuple(1, 0, "MIG-00000001-0000-4000-8000-000000000001", 1024),
                        tuple(2, 0, "MIG-00000001-0000-4000-8000-000000000002", 2048));
        assertThat(inventory(reading).getMig()).isTrue();
        assertThat(inventory(reading).getUnsupportedList()).containsExactly("mem_util", "util");

        nvml.script();
        readAfter(Duration.ofSeconds(5));
        gpu = readAfter(Duration.ofSeconds(1));
        assertThat(gpu.getUtil()).as("MIG was switched off").isEqualTo(97);
        assertThat(gpu.getMigList()).isEmpty();
    }

    @Test
    void aLinkThatWasActiveAndIsNotIsDown() {
        FakeNvml nvml = FakeNvml.in(folder).script("gpu.field.165.7 = 0");
        over(nvml);
        assertThat(read().getNvlinksDown()).as("link 7 was never active").isZero();
        nvml.script("gpu.field.165.7 = 0", "gpu.field.165.3 = 0", "gpu.field.165.4 = 2", "gpu.field.165.5 = error 999");
        assertThat(readAfter(Duration.ofSeconds(4)).getNvlinksDown()).isZero();
        GpuReading gpu = readAfter(Duration.ofSeconds(1));
        assertThat(gpu.getNvlinksDown()).as("3 is down, 4 sleeps, 5 is unknown").isEqualTo(1);
        assertThat(gpu.getFaultsList()).extracting(FieldFault::getField).containsExactly("nvlinks_down");
        nvml.script();
        assertThat(readAfter(Duration.ofSeconds(5)).getNvlinksDown()).isZero();
    }

    @Test
    void aSumOfLinkErrorsIsWholeOrNotGiven() {
        FakeNvml nvml = FakeNvml.in(folder).script("gpu.field.161 = 10");
        over(nvml);
        assertThat(read().getNvlinkErrors()).isEqualTo(180);
        nvml.script("gpu.field.161 = 10", "gpu.field.162.3 = error 999");
        GpuReading gpu = readAfter(Duration.ofSeconds(5));
        assertThat(gpu.getNvlinkErrors()).isZero();
        assertThat(gpu.getFaultsList()).extracting(FieldFault::getField).containsExactly("nvlink_errors");
        nvml.script("gpu.field.161 = 10");
        assertThat(readAfter(Duration.ofSeconds(5)).getNvlinkErrors()).isEqualTo(180);
    }

    @Test
    void aGpuThatIsLostHalfWayThroughTeachesNothing() {
        FakeNvml nvml = FakeNvml.in(folder).script("gpu.call.nvmlDeviceGetTemperatureV = 3");
        over(nvml);
        read();
        nvml.script("gpu.call.nvmlDeviceGetFieldValues = 15");
        Reading reading = source.read();
        assertThat(reading.part().getGpus(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_GPU_IS_LOST);
        assertThat(reading.part().getGpus(0).getUtil()).isEqualTo(97);
        assertThat(reading.inventory())
                .as("temp_c is not called unsupported now")
                .isNull();
    }

    @Test
    void fewerLinksThanListedAreNoFault() {
        over("gpu.links = 12", "gpu.field.161 = 1", "gpu.field.162 = 0", "gpu.field.163 = 0");
        GpuReading gpu = read();
        assertThat(gpu.getFaultsList()).isEmpty();
        assertThat(gpu.getNvlinksDown()).isZero();
    }

    @Test
    void aGpuWithoutNvlinkHasNoneDown() {
        Reading reading = over("gpu.field.91 = 0", "gpu.field.138 = error 3", "gpu.field.139 = error 3")
                .read();
        assertThat(reading.part().getGpus(0).getFaultsList()).isEmpty();
        assertThat(inventory(reading).getUnsupportedList())
                .containsExactly("nvlink_errors", "nvlink_rx_kib", "nvlink_tx_kib", "nvlinks_down");
    }

    @Test
    void aMachineWithoutADriverIsAbsentAndLookedAtAgainSlowly() throws IOException {
        FakeNvml nvml = FakeNvml.in(folder);
        Path library = Path.of(nvml.library());
        Path aside = library.resolveSibling("not-installed-yet");
        over(nvml);
        Files.move(library, aside);
        Reading reading = source.read();
        assertThat(reading.part().getGpusList()).isEmpty();
        assertThat(reading.part().getSourcesList())
                .extracting(fault -> tuple(fault.getSource(), fault.getStatus()))
                .containsExactly(tuple("nvml", ReadStatus.READ_STATUS_ABSENT));
        assertThat(reading.part().getSources(0).getDetail())
                .contains("there is no")
                .contains("libnvidia-ml.so.1");
        assertThat(reading.inventory()).isNull();

        Files.move(aside, library);
        nanos.addAndGet(Duration.ofSeconds(29).toNanos());
        assertThat(source.read().part().getSources(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_ABSENT);
        assertThat(readAfter(Duration.ofSeconds(1)).getUtil()).isEqualTo(97);
    }

    @Test
    void aDriverThatIsNotLoadedIsAbsentAndAMismatchIsAFault() {
        FakeNvml nvml = FakeNvml.in(folder).script("init = 9");
        over(nvml);
        assertThat(source.read().part().getSources(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_ABSENT);
        nvml.script("init = 18");
        nanos.addAndGet(Duration.ofSeconds(30).toNanos());
        NodeSample part = source.read().part();
        assertThat(part.getSources(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_FAILED);
        assertThat(part.getSources(0).getDetail()).contains("NVML 18");
        nvml.script("gpus = 0");
        nanos.addAndGet(Duration.ofSeconds(30).toNanos());
        assertThat(source.read().part().getSources(0).getStatus()).isEqualTo(ReadStatus.READ_STATUS_ABSENT);
        nvml.script();
        assertThat(readAfter(Duration.ofSeconds(30)).getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
    }

    @Test
    void aSessionThatHasDiedIsOpenedAgain() {
        FakeNvml nvml = FakeNvml.in(folder);
        over(nvml);
        read();
        nvml.script("gpu.return = 18");
        GpuReading gpu = read();
        assertThat(gpu.getStatus()).isEqualTo(ReadStatus.READ_STATUS_FAILED);
        assertThat(gpu.getCode()).isEqualTo(18);
        gpu = read();
        assertThat(gpu.getCode()).as("said again while NVML is closed").isEqualTo(18);
        assertThat(nvml.log()).endsWith("shutdown refs=0", "unloaded refs=0");
        nvml.script();
        assertThat(readAfter(Duration.ofSeconds(30)).getStatus()).isEqualTo(ReadStatus.READ_STATUS_OK);
    }
}
