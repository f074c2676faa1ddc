package dev.unhang.healer.actuator.nic;

import dev.unhang.healer.actuator.repair.OpenFiles;
import dev.unhang.healer.actuator.repair.Programs;
import dev.unhang.healer.actuator.repair.Ran;
import io.vertx.core.json.DecodeException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads whom a node must not lose: Kafka, SSH sessions, servers of mounts and of remote disks; and who uses a port's RDMA
 * device. Sources: {@code /proc}, {@code /sys} and {@code ip route get}. Changes nothing. On the worker's thread; a name
 * that has to be resolved may take as long as the resolver does.
 */
final class SurroundingsReader {

    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final int SSH_PORT = 22;

    private final Programs programs;
    private final Path proc;
    private final Path sys;
    private final List<String> brokers;
    private final List<String> doubts = new ArrayList<>();

    /** Address to reach, and from which of ours where that is known, with who it is. */
    private final Map<List<String>, String> wanted = new LinkedHashMap<>();

    /** @param brokers {@code host:port} of each bootstrap server */
    SurroundingsReader(Programs programs, Path proc, Path sys, List<String> brokers) {
        this.programs = programs;
        this.proc = proc;
        this.sys = sys;
        this.brokers = brokers;
    }

    Surroundings read(DeviceStack stack) {
        doubts.clear();
        wanted.clear();
        connections();
        brokers();
        mounts();
        disks();
        List<Surroundings.Peer> peers = new ArrayList<>();
        wanted.forEach((way, who) -> peers.add(new Surroundings.Peer(who, device(way))));
        List<String> locked = List.of();
        try {
            locked = new SnapshotReader(programs).lockedRoutes();
        } catch (IOException e) {
            doubts.add(String.valueOf(e.getMessage()));
        }
        return new Surroundings(peers, rdmaUsers(stack), virtualFunctions(stack.port()), locked, doubts);
    }

    private void connections() {
        List<TcpTable.Connection> all = new ArrayList<>();
        for (String table : List.of("tcp", "tcp6")) {
            Path file = proc.resolve("self/net").resolve(table);
            if (!Files.exists(file)) {
                continue; // no IPv6
            }
            try {
                all.addAll(TcpTable.established(Files.readAllLines(file)));
            } catch (IOException | IllegalArgumentException e) {
                doubts.add(file + " cannot be read: " + e.getMessage());
            }
        }
        OpenFiles open = new OpenFiles(proc);
        Set<Long> ours = new HashSet<>(open.sockets(proc.resolve("self")));
        Set<Long> ssh = new HashSet<>();
        open.processes(name -> name.startsWith("sshd") || "dropbear".equals(name))
                .forEach(process -> ssh.addAll(open.sockets(process)));
        for (TcpTable.Connection connection : all) {
            String remote = connection.remote().getHostAddress();
            List<String> way = List.of(remote, connection.local().getHostAddress());
            if (ours.contains(connection.inode())) {
                wanted.put(way, "this actuator's own connection to " + remote);
            } else if (ssh.contains(connection.inode()) || connection.localPort() == SSH_PORT) {
                wanted.put(way, "the SSH session from " + remote);
            }
        }
    }

    private void brokers() {
        for (String broker : brokers) {
            int colon = broker.lastIndexOf(':');
            String host = (colon < 0 ? broker : broker.substring(0, colon)).replaceAll("[\\[\\]]", "");
            want(host, "the Kafka broker " + host);
        }
    }

    private void mounts() {
        try {
            for (NetworkMounts.Mount mount : NetworkMounts.parse(Files.readAllLines(proc.resolve("self/mountinfo")))) {
                if (mount.server().isPresent()) {
                    want(mount.server().get(), "the server of " + mount.point() + " (" + mount.type() + ")");
                } else {
                    doubts.add("through which port " + mount.point() + " (" + mount.type()
                            + ") is reached cannot be told from its mount");
                }
            }
        } catch (IOException e) {
            doubts.add("the mounts cannot be read: " + e.getMessage());
        }
    }

    /** NVMe over TCP or RDMA. */
    private void disks() {
        Path root = sys.resolve("class/nvme");
        if (!Files.isDirectory(root)) {
            return;
        }
        try (DirectoryStream<Path> controllers = Files.newDirectoryStream(root)) {
            for (Path controller : controllers) {
                String transport =
                        Files.readString(controller.resolve("transport")).strip();
                if (Set.of("tcp", "rdma").contains(transport)) {
                    String address = Files.readString(controller.resolve("address"));
                    String host = address.replaceAll("(?s).*traddr=([^,\\s]+).*", "$1");
                    want(host, "the remote disk " + controller.getFileName());
                }
            }
        } catch (IOException e) {
            doubts.add("the remote disks cannot be read: " + e.getMessage());
        }
    }

    private void want(String host, String who) {
        try {
            for (InetAddress address : InetAddress.getAllByName(host)) {
                wanted.put(List.of(address.getHostAddress()), who);
            }
        } catch (UnknownHostException e) {
            doubts.add("the address of " + who + " is not known: " + e.getMessage());
        }
    }

    private Optional<String> device(List<String> way) {
        List<String> words = new ArrayList<>(List.of("ip", "-j", "route", "get", way.get(0)));
        if (way.size() > 1) {
            words.addAll(List.of("from", way.get(1)));
        }
        Ran ran = programs.run(DEADLINE, words);
        if (!ran.ok()) {
            return Optional.empty();
        }
        try {
            return Snapshot.parse(ran.output()).stream()
                    .map(route -> route.getString("dev"))
                    .filter(dev -> dev != null)
                    .findFirst();
        } catch (DecodeException e) {
            return Optional.empty();
        }
    }

    private List<String> rdmaUsers(DeviceStack stack) {
        Path root = sys.resolve("class/infiniband");
        List<String> users = new ArrayList<>();
        if (!Files.isDirectory(root)) {
            return users;
        }
        OpenFiles open = new OpenFiles(proc);
        try (DirectoryStream<Path> devices = Files.newDirectoryStream(root)) {
            for (Path device : devices) {
                if (netdevs(device).stream().noneMatch(stack.own()::contains)) {
                    continue;
                }
                String name = String.valueOf(device.getFileName());
                for (String node : verbs(name)) {
                    open.holders(path -> path.endsWith("/infiniband/" + node))
                            .forEach(holder -> users.add(holder.shown() + " uses " + name));
                }
            }
        } catch (IOException e) {
            doubts.add("the RDMA devices cannot be read: " + e.getMessage());
        }
        return users;
    }

    private static Set<String> netdevs(Path rdma) throws IOException {
        Set<String> names = new HashSet<>();
        Path net = rdma.resolve("device/net");
        if (Files.isDirectory(net)) {
            try (DirectoryStream<Path> devices = Files.newDirectoryStream(net)) {
                devices.forEach(device -> names.add(String.valueOf(device.getFileName())));
            }
        }
        Path ports = rdma.resolve("ports");
        if (Files.isDirectory(ports)) {
            try (DirectoryStream<Path> each = Files.newDirectoryStream(ports)) {
                for (Path port : each) {
                    names.addAll(gidDevices(port.resolve("gid_attrs/ndevs")));
                }
            }
        }
        return names;
    }

    private static Set<String> gidDevices(Path ndevs) throws IOException {
        Set<String> names = new HashSet<>();
        if (Files.isDirectory(ndevs)) {
            try (DirectoryStream<Path> gids = Files.newDirectoryStream(ndevs)) {
                for (Path gid : gids) {
                    try {
                        names.add(Files.readString(gid).strip());
                    } catch (IOException e) {
                        // An empty place in the table answers EINVAL.
                    }
                }
            }
        }
        return names;
    }

    private List<String> verbs(String device) throws IOException {
        List<String> names = new ArrayList<>();
        Path root = sys.resolve("class/infiniband_verbs");
        if (Files.isDirectory(root)) {
            try (DirectoryStream<Path> nodes = Files.newDirectoryStream(root, "uverbs*")) {
                for (Path node : nodes) {
                    if (device.equals(Files.readString(node.resolve("ibdev")).strip())) {
                        names.add(String.valueOf(node.getFileName()));
                    }
                }
            }
        }
        return names;
    }

    private int virtualFunctions(String port) {
        try {
            return Integer.parseInt(Files.readString(sys.resolve("class/net/" + port + "/device/sriov_numvfs"))
                    .strip());
        } catch (IOException | NumberFormatException e) {
            return 0; // it cannot have any
        }
    }
}
