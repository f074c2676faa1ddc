package dev.unhang.healer.actuator.nic;

import dev.unhang.healer.actuator.nic.Snapshot.Part;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Why a port must not go down: whom the node would lose, and what could not be put back. A doubt is a reason. Pure. */
final class Refusals {

    private static final int MOST_TOLD = 4;

    private final Snapshot network;
    private final DeviceStack stack;
    private final JsonObject link;
    private final Surroundings surroundings;
    private final List<String> reasons = new ArrayList<>();

    private Refusals(Snapshot network, DeviceStack stack, JsonObject link, Surroundings surroundings) {
        this.network = network;
        this.stack = stack;
        this.link = link;
        this.surroundings = surroundings;
    }

    /** A sentence, or nothing when the port may go down. */
    static Optional<String> of(Snapshot network, DeviceStack stack, JsonObject link, Surroundings surroundings) {
        return new Refusals(network, stack, link, surroundings).sentence();
    }

    private Optional<String> sentence() {
        thePort();
        reasons.addAll(DefaultRoutes.through(network, stack));
        peers();
        stack.lastSlaveOf().forEach(bond -> reasons.add("bond " + bond + " has no other slave that works"));
        reasons.addAll(surroundings.rdmaUsers());
        if (surroundings.virtualFunctions() > 0) {
            reasons.add("it has " + surroundings.virtualFunctions()
                    + " virtual functions, and whoever uses them would lose their link");
        }
        whatCouldNotBePutBack();
        surroundings.doubts().forEach(reasons::add);
        if (reasons.isEmpty()) {
            return Optional.empty();
        }
        String told = String.join("; ", reasons.subList(0, Math.min(MOST_TOLD, reasons.size())));
        int more = reasons.size() - MOST_TOLD;
        return Optional.of(
                stack.port() + " is not taken down: " + told + (more > 0 ? "; and " + more + " reasons more" : ""));
    }

    private void thePort() {
        String kind = Links.kind(link);
        if (Links.has(link, "LOOPBACK")) {
            reasons.add("it is the loopback device");
        } else if (!kind.isEmpty() && !"veth".equals(kind)) {
            reasons.add("it is no port but a device of kind " + kind);
        }
        if (!Links.has(link, "UP")) {
            reasons.add("it is down already, and whoever did that may want it so");
        }
        if (DefaultRoutes.inVrf(network, stack)) {
            reasons.add("it is in a VRF, and who is reached through it cannot be told");
        }
    }

    private void peers() {
        for (Surroundings.Peer peer : surroundings.peers()) {
            if (peer.device().isEmpty()) {
                reasons.add("the kernel does not tell the way to " + peer.who());
            } else if (stack.carries().contains(peer.device().get())) {
                String by = peer.device().get().equals(stack.port())
                        ? ""
                        : " (through " + peer.device().get() + ")";
                reasons.add("it carries " + peer.who() + by);
            }
        }
    }

    private void whatCouldNotBePutBack() {
        for (String device : stack.own()) {
            network.addresses(device)
                    .forEach(address -> AddressWords.doubt(address)
                            .ifPresent(why -> reasons.add(
                                    "its address " + address.getString("local") + " could not be put back, " + why)));
        }
        for (boolean six : new boolean[] {false, true}) {
            for (JsonObject route : network.routes(six)) {
                if (RouteWords.devices(route).stream().anyMatch(stack.own()::contains)) {
                    RouteWords.doubt(route)
                            .ifPresent(why -> reasons.add(
                                    "its route to " + route.getString("dst") + " could not be put back, " + why));
                }
            }
        }
        for (Part part : List.of(Part.NEIGHBOURS, Part.PROXIES)) {
            for (JsonObject neighbour : network.part(part)) {
                if (stack.own().contains(neighbour.getString("dev", ""))) {
                    NeighbourWords.doubt(neighbour)
                            .ifPresent(why -> reasons.add(
                                    "its neighbour " + neighbour.getString("dst") + " could not be put back, " + why));
                }
            }
        }
        if (network.part(Part.NEXTHOPS).stream()
                .anyMatch(nexthop -> stack.own().contains(nexthop.getString("dev", "")))) {
            reasons.add("it has next hop objects, as routing daemons make them, which could not be put back");
        }
        surroundings.lockedRoutes().stream()
                .filter(line -> stack.own().stream().anyMatch(device -> (line + " ").contains(" dev " + device + " ")))
                .forEach(line -> reasons.add("its route '" + line.strip() + "' has a locked metric, which ip does not"
                        + " tell in a form that could be put back"));
    }
}
