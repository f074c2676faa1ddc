package dev.unhang.healer.actuator;

import com.google.protobuf.Message;
import dev.unhang.healer.actuator.action.CollectEvidence;
import dev.unhang.healer.actuator.action.KillLeaked;
import dev.unhang.healer.actuator.action.Look;
import dev.unhang.healer.actuator.action.RelaunchUnit;
import dev.unhang.healer.actuator.action.RestartPersistenced;
import dev.unhang.healer.actuator.action.RestartRanks;
import dev.unhang.healer.actuator.action.StepClock;
import dev.unhang.healer.actuator.gpu.GpuSettings;
import dev.unhang.healer.actuator.gpu.ResetGpu;
import dev.unhang.healer.actuator.nic.BounceNic;
import dev.unhang.healer.actuator.nic.NicSettings;
import dev.unhang.healer.actuator.process.NodeProcesses;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Repair;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.function.Consumer;

/** All that an actuator of this version can do. */
final class Repairs {

    private static final Path SYS = Path.of("/sys");
    private static final Path DEV = Path.of("/dev");

    /** There where systemd runs the machine: then a unit of it outlives us. */
    private static final Path SYSTEMD = Path.of("/run/systemd/system");

    private Repairs() {}

    /** Also what the node does not allow: an earlier start may have left it half way. The protocol lets none of it begin. */
    static List<Repair> of(
            ActuatorConfig config,
            NodeProcesses node,
            Path proc,
            Programs programs,
            Clock clock,
            Consumer<Message> telemetry) {
        ActuatorConfig.Programs names = config.programs();
        ActuatorConfig.Evidence evidence = config.evidence();
        return List.of(
                new Look(node, programs, names.pySpy(), clock, telemetry),
                new CollectEvidence(
                        node,
                        programs,
                        new CollectEvidence.Limits(
                                config.state().resolve("evidence"),
                                evidence.bytes(),
                                evidence.keep(),
                                names.dmesg(),
                                names.pySpy(),
                                names.bugReport(),
                                evidence.ras() ? "127.0.0.1" : "",
                                evidence.rasPort())),
                new RestartRanks(node, programs, config.terminate()),
                new RelaunchUnit(programs, names.systemctl(), config.units()),
                new KillLeaked(node, proc, programs, config.terminate()),
                new RestartPersistenced(programs, names.systemctl(), names.nvidiaSmi()),
                new StepClock(programs, names.chronyc()),
                new BounceNic(
                        programs,
                        new NicSettings(
                                config.state(),
                                List.of(config.kafka().bootstrapServers().split(",", -1)),
                                proc,
                                SYS,
                                Files.isDirectory(SYSTEMD))),
                new ResetGpu(
                        programs,
                        new GpuSettings(
                                config.state(),
                                config.gpu().collectorSocket(),
                                proc,
                                DEV,
                                GpuSettings.PERSISTENCED,
                                GpuSettings.FABRIC_MANAGER,
                                config.gpu().clients(),
                                config.gpu().deadline())));
    }
}
