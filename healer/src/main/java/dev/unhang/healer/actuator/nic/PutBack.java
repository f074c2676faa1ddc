package dev.unhang.healer.actuator.nic;

import dev.unhang.healer.actuator.nic.Snapshot.Part;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * What a saved network has and the network now has not, as commands that make it again, in an order in which they can
 * succeed: devices up, addresses, neighbours, routes without a gateway, routes with one, rules. Each command changes
 * nothing where the thing is there already. Pure.
 */
final class PutBack {

    /** One command, and what it makes, for a person. */
    record Step(List<String> command, String what) {}

    private final Snapshot saved;
    private final Snapshot now;
    private final DeviceStack stack;
    private final long elapsed;

    /** @param elapsed seconds since {@code saved} was read */
    PutBack(Snapshot saved, Snapshot now, DeviceStack stack, long elapsed) {
        this.saved = saved;
        this.now = now;
        this.stack = stack;
        this.elapsed = elapsed;
    }

    /**
     * What to run next. After devices had to go up the network is to be read again, since much comes back with that.
     *
     * @param late whether the kernel had time enough to make what it makes by itself
     */
    List<Step> steps(boolean late) {
        List<Step> steps = links();
        if (steps.isEmpty()) {
            steps.addAll(others(late));
        }
        if (steps.isEmpty()) {
            for (List<JsonObject> routes : disordered()) {
                RouteOrder.rearrange(routes).forEach(command -> steps.add(new Step(command, order(routes))));
            }
        }
        return steps;
    }

    /** Every command that could be needed, for somebody who cannot look. */
    static List<Step> everything(Snapshot saved, DeviceStack stack) {
        PutBack all = new PutBack(saved, Forgotten.of(saved, stack), stack, 0);
        List<Step> steps = all.links();
        steps.addAll(all.others(true));
        List<JsonObject> routes =
                saved.routes(false).stream().map(RouteWords::lasting).toList();
        for (List<JsonObject> like : RouteOrder.ordered(routes, stack.own())) {
            RouteOrder.rearrange(like).forEach(command -> steps.add(new Step(command, order(like))));
        }
        for (List<String> command : Connected.unwanted(saved, stack)) {
            steps.add(new Step(command, "a route that was not there"));
        }
        return steps;
    }

    /** What is not as it was, a sentence each. Without a carrier, what the kernel makes only with one does not count. */
    List<String> differences(boolean carrier) {
        List<String> sentences = new ArrayList<>();
        links().forEach(step -> sentences.add(step.what()));
        for (String device : stack.all()) {
            missingAddresses(device).stream()
                    .filter(address -> carrier || !AddressWords.isLinkLocal(address))
                    .forEach(address -> sentences.add(sentence(address, device)));
        }
        missingNeighbours().forEach(each -> sentences.add("neighbour " + each.getString("dst") + " is missing"));
        for (boolean six : new boolean[] {false, true}) {
            missingRoutes(six).stream()
                    .filter(route -> carrier || !six || !RouteWords.isKernels(route))
                    .forEach(route -> sentences.add(sentence(route, six)));
            missing(saved.rules(six), now.rules(six), RuleWords::lasting)
                    .forEach(rule -> sentences.add("rule " + String.join(" ", RuleWords.words(rule)) + " is missing"));
        }
        unwanted().forEach(step -> sentences.add(step.what()));
        disordered().forEach(routes -> sentences.add(order(routes)));
        return sentences;
    }

    private List<Step> links() {
        List<Step> steps = new ArrayList<>();
        for (JsonObject link : now.part(Part.LINKS)) {
            String name = link.getString("ifname", "");
            Optional<JsonObject> before =
                    stack.all().contains(name) ? Links.named(saved.part(Part.LINKS), name) : Optional.empty();
            before.ifPresent(was -> {
                differ(steps, name, "up", Links.has(was, "UP"), Links.has(link, "UP"));
                String mtu = String.valueOf(was.getValue("mtu"));
                if (!mtu.equals(String.valueOf(link.getValue("mtu")))) {
                    steps.add(new Step(set(name, "mtu", mtu), "the MTU of " + name + " is not " + mtu));
                }
                String master = was.getString("master");
                if (master != null && !master.equals(link.getString("master"))) {
                    steps.add(new Step(set(name, "master", master), name + " is no port of " + master));
                }
            });
        }
        // What a device is made on comes first.
        steps.sort((a, b) -> Boolean.compare(
                !a.command().contains(stack.port()), !b.command().contains(stack.port())));
        return steps;
    }

    private static void differ(List<Step> steps, String name, String word, boolean was, boolean is) {
        if (was != is) {
            steps.add(new Step(set(name, was ? word : "down"), name + (was ? " is not " + word : " is up")));
        }
    }

    private static List<String> set(String device, String... words) {
        List<String> command = new ArrayList<>(List.of("ip", "link", "set", "dev", device));
        command.addAll(List.of(words));
        return command;
    }

    private List<Step> others(boolean late) {
        List<Step> steps = new ArrayList<>();
        for (String device : stack.all()) {
            addresses(steps, device, late);
        }
        for (JsonObject neighbour : missingNeighbours()) {
            steps.add(step(
                    List.of("ip", "neigh", "replace"),
                    NeighbourWords.words(neighbour),
                    "neighbour " + neighbour.getString("dst") + " is missing"));
        }
        routes(steps, false);
        routes(steps, true);
        for (boolean six : new boolean[] {false, true}) {
            for (JsonObject rule : missing(saved.rules(six), now.rules(six), RuleWords::lasting)) {
                if (RuleWords.doubt(rule).isEmpty()) {
                    List<String> words = RuleWords.words(rule);
                    steps.add(step(List.of("ip", family(six), "rule", "add"), words, "rule " + words + " is missing"));
                }
            }
        }
        steps.addAll(unwanted());
        return steps;
    }

    private void addresses(List<Step> steps, String device, boolean late) {
        List<Step> six = new ArrayList<>();
        for (JsonObject address : missingAddresses(device)) {
            if (AddressWords.isLinkLocal(address) && !late) {
                continue; // the kernel makes it, a moment after the carrier
            }
            boolean isSix = AddressWords.isSix(address);
            Step step = step(
                    List.of("ip", family(isSix), "addr", "add"),
                    AddressWords.words(address, device, elapsed),
                    sentence(address, device));
            if (isSix) {
                six.add(0, step); // the kernel lists the newest first
            } else {
                steps.add(step);
            }
        }
        steps.addAll(six);
    }

    private void routes(List<Step> steps, boolean six) {
        List<Step> direct = new ArrayList<>();
        List<Step> withGateway = new ArrayList<>();
        List<JsonObject> missing = missingRoutes(six);
        for (RouteOrder.Placed placed : RouteOrder.place(missing, saved.routes(six), isThere(six))) {
            JsonObject route = placed.route();
            if (RouteWords.isKernelsOwn(route)) {
                continue; // it comes with its address; made by hand it would be another, beside the kernel's
            }
            String verb = placed.first() && !six ? "prepend" : "append";
            for (JsonObject part : parts(route, six)) {
                Step step = step(
                        List.of("ip", family(six), "route", verb),
                        RouteWords.words(part, six, elapsed),
                        sentence(route, six));
                (RouteWords.hasGateway(route) ? withGateway : direct).add(step);
            }
        }
        steps.addAll(direct);
        steps.addAll(withGateway);
    }

    /** The next hops of an IPv6 route are routes of their own, and each may be there or not. */
    private static List<JsonObject> parts(JsonObject route, boolean six) {
        List<JsonObject> nexthops = RouteWords.nexthops(route);
        if (!six || nexthops.isEmpty()) {
            return List.of(route);
        }
        List<JsonObject> parts = new ArrayList<>();
        for (JsonObject nexthop : nexthops) {
            parts.add(route.copy().put("nexthops", new JsonArray(List.of(nexthop))));
        }
        return parts;
    }

    private Predicate<JsonObject> isThere(boolean six) {
        List<JsonObject> there =
                now.routes(six).stream().map(RouteWords::lasting).toList();
        return route -> there.contains(RouteWords.lasting(route));
    }

    private List<JsonObject> missingAddresses(String device) {
        return missing(saved.addresses(device), now.addresses(device), AddressWords::lasting).stream()
                .filter(address -> !AddressWords.isTemporary(address))
                .toList();
    }

    private List<JsonObject> missingNeighbours() {
        List<JsonObject> missing = new ArrayList<>();
        for (Part part : List.of(Part.NEIGHBOURS, Part.PROXIES)) {
            missing(saved.part(part), now.part(part), NeighbourWords::lasting).stream()
                    .filter(neighbour -> stack.all().contains(neighbour.getString("dev", "")))
                    .forEach(missing::add);
        }
        return missing;
    }

    /** Those of the stack, and those elsewhere that had one of its addresses as their source. */
    private List<JsonObject> missingRoutes(boolean six) {
        List<String> sources = stack.own().stream()
                .flatMap(device -> saved.addresses(device).stream())
                .map(address -> address.getString("local", ""))
                .toList();
        return missing(saved.routes(six), now.routes(six), RouteWords::lasting).stream()
                .filter(route -> RouteWords.devices(route).stream().anyMatch(stack.all()::contains)
                        || sources.contains(route.getString("prefsrc", "")))
                .toList();
    }

    /** Routes to connected networks, and link-local addresses, that the kernel makes at each up and somebody had taken away. */
    private List<Step> unwanted() {
        List<Step> steps = new ArrayList<>();
        boolean hadCarrier = Links.named(saved.part(Part.LINKS), stack.port())
                .map(link -> Links.has(link, "LOWER_UP"))
                .orElse(false);
        for (String device : stack.own()) {
            if (hadCarrier
                    && saved.addresses(device).stream().noneMatch(AddressWords::isLinkLocal)
                    && now.addresses(device).stream().anyMatch(AddressWords::isLinkLocal)) {
                steps.add(new Step(
                        Connected.noLinkLocal(device), device + " has a link-local address, and had none before"));
            }
        }
        for (boolean six : new boolean[] {false, true}) {
            for (JsonObject route : missing(now.routes(six), saved.routes(six), RouteWords::lasting)) {
                if (hadCarrier
                        && RouteWords.isKernels(route)
                        && !RouteWords.isKernelsOwn(route)
                        && !"fe80::/64".equals(route.getString("dst"))
                        && stack.own().contains(route.getString("dev", ""))) {
                    List<String> words = RouteWords.words(route, six, 0);
                    steps.add(step(
                            List.of("ip", family(six), "route", "del"),
                            words,
                            "route " + String.join(" ", words) + " was not there before"));
                }
            }
        }
        return steps;
    }

    private List<List<JsonObject>> disordered() {
        return RouteOrder.disordered(
                saved.routes(false).stream().map(RouteWords::lasting).toList(),
                now.routes(false).stream().map(RouteWords::lasting).toList());
    }

    private static String order(List<JsonObject> routes) {
        return "the routes to " + routes.get(0).getString("dst") + " stand in another order";
    }

    private static List<JsonObject> missing(
            List<JsonObject> wanted, List<JsonObject> there, UnaryOperator<JsonObject> lasting) {
        Map<JsonObject, Integer> left = new HashMap<>();
        there.forEach(each -> left.merge(lasting.apply(each), 1, Integer::sum));
        List<JsonObject> missing = new ArrayList<>();
        for (JsonObject each : wanted) {
            JsonObject key = lasting.apply(each);
            if (left.merge(key, -1, Integer::sum) < 0) {
                missing.add(each);
            }
        }
        return missing;
    }

    private static Step step(List<String> verb, List<String> words, String what) {
        List<String> command = new ArrayList<>(verb);
        command.addAll(words);
        return new Step(command, what);
    }

    private static String family(boolean six) {
        return six ? "-6" : "-4";
    }

    private static String sentence(JsonObject address, String device) {
        return "address " + address.getString("local") + "/" + address.getValue("prefixlen") + " of " + device
                + " is missing";
    }

    private String sentence(JsonObject route, boolean six) {
        return "route " + String.join(" ", RouteWords.words(route, six, elapsed)) + " is missing";
    }
}
