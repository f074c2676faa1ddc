package dev.unhang.collector.source.kernel;

import dev.unhang.events.v1.KernelEvent;
import dev.unhang.events.v1.KernelKind;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Tells what a line of the kernel log means, or that it means nothing to us. Pure. Patterns of NVIDIA's lines follow
 * the driver's source (kernel_rc.c of 595.45.04) and older forms seen in the field. Each is anchored at a line's
 * beginning, for the middle of a line can hold names that somebody chose. An Xid whose code or tail is not known is an
 * Xid all the same. Words in another case ({@code r8169 …, XID 641}) are no Xid.
 */
final class KernelLines {

    private static final int LONGEST_TEXT = 512;
    private static final String PCI = "([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\\.[0-7])?)";

    private static final Pattern XID =
            Pattern.compile("NVRM: Xid \\((?:PCI:)?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})(?:\\.[0-7])?"
                    + "(?: GPU-I:(\\d{1,4})(?: GPU-CI:\\d+)?)?\\): (\\d{1,5})"
                    + "(?:, pid=(\\d{1,9}|'?<unknown>'?)(?:, name=([^,]*))?)?(.*)");
    private static final Pattern XID_ODD = Pattern.compile("NVRM: Xid \\([^)]*\\): (\\d{1,5})\\b(.*)");
    private static final Pattern SXID =
            Pattern.compile("nvidia-nvswitch\\d+: SXid \\(PCI:" + PCI + "\\): (\\d{1,6}), (Fatal|Non-fatal), (.*)");
    private static final Pattern GPU_GONE = Pattern.compile("NVRM: .*fallen off the bus");
    private static final Pattern GSP = Pattern.compile("NVRM: (?!.*RPC history).*\\bGSP\\b.*");
    private static final Pattern NVLINK_UNIT =
            Pattern.compile("(?:^|\\s)(Fatal|Nonfatal)\\s+XC\\d+ i\\d+ Link (-?\\d{1,3}) \\(0x([0-9A-Fa-f]{1,8})");
    private static final Pattern LINK = Pattern.compile("\\b[Ll]ink (\\d{1,3})\\b");
    private static final Pattern RECOVERY =
            Pattern.compile("recovery action changed from 0x\\d+ .*to 0x([0-9A-Fa-f]+)");
    private static final Pattern ANY_PCI = Pattern.compile("\\b" + PCI);

    private static final Pattern CARD = Pattern.compile(
            "(?:mlx[45]_core|mlx4_en|bnxt_en|ice|i40e|ixgbe|igb|ena|efa|irdma|gve|ionic|qede|cxgb4|be2net|hns3) " + PCI
                    + "(?: \\S+?)?: (.*)");
    private static final Pattern CARD_FATAL =
            Pattern.compile("device's health compromised|ENABLE_HCA\\(\\S*\\) timeout|firmware internal error"
                    + "|[Dd]evice is in (?:an )?(?:fatal|unrecoverable)");
    private static final Pattern CARD_NOT_FATAL = Pattern.compile("Port module event|insufficient power"
            + "|ACCESS_REG\\(\\S*\\).*failed|\\b[Ll]ink (?:is )?[Dd]own|TX timeout|transmit queue \\d+ timed out");
    private static final Pattern WATCHDOG =
            Pattern.compile("NETDEV WATCHDOG: \\S+ \\(\\S+\\): transmit queue \\d+ timed out.*");

    private static final Pattern OOM = Pattern.compile(
            "(?:Memory cgroup out of memory|Out of memory.*?): Killed process (\\d{1,9}) \\(([^)]*)\\).*");
    private static final Pattern HUNG =
            Pattern.compile("INFO: task (.{1,64}):(\\d{1,9}) blocked for more than \\d+ seconds.*");
    private static final Pattern FILESYSTEM = Pattern.compile(
            "nfs: server \\S+ not responding.*|Lustre(?:Error)?: .*(?:Connection to \\S+.* was lost|evicted).*"
                    + "|ceph: .*mds\\d+ hung.*|libceph: .*(?:down|socket closed|connect error).*"
                    + "|CIFS: .*has not responded.*");

    private static final List<Function<String, KernelEvent.@Nullable Builder>> KINDS = List.of(
            KernelLines::xid,
            KernelLines::sxid,
            KernelLines::gone,
            KernelLines::gsp,
            KernelLines::card,
            KernelLines::watchdog,
            KernelLines::oom,
            KernelLines::hung,
            KernelLines::filesystem);

    private KernelLines() {}

    /** Null for a line that means nothing to us. A record of several lines is one event, of the line that says most. */
    static KernelEvent.@Nullable Builder classify(String text) {
        for (Function<String, KernelEvent.@Nullable Builder> kind : KINDS) {
            for (String line : text.split("\n", -1)) {
                KernelEvent.Builder event = kind.apply(line);
                if (event != null) {
                    if (event.getPci().isEmpty() && event.getKind() == KernelKind.KERNEL_KIND_GPU_GONE) {
                        event.setPci(gpuAddress(text)); // "NVRM: fallen off the bus" is the third line of one print
                    }
                    return event.setText(cut(text)).setCount(1);
                }
            }
        }
        return null;
    }

    private static KernelEvent.@Nullable Builder xid(String line) {
        Matcher matcher = XID.matcher(line);
        if (!matcher.lookingAt()) {
            Matcher odd = XID_ODD.matcher(line);
            return odd.lookingAt()
                    ? tail(event(KernelKind.KERNEL_KIND_XID).setCode(Integer.parseInt(odd.group(1))), odd.group(2))
                    : null;
        }
        KernelEvent.Builder event = event(KernelKind.KERNEL_KIND_XID)
                .setPci(address(matcher.group(1)))
                .setCode(Integer.parseInt(matcher.group(3)));
        if (matcher.group(2) != null) {
            event.setGpuInstance(Integer.parseInt(matcher.group(2))).setHasGpuInstance(true);
        }
        String pid = matcher.group(4);
        if (pid != null && Character.isDigit(pid.charAt(0))) {
            event.setPid(Integer.parseInt(pid));
            String name = matcher.group(5);
            event.setProcess(name == null ? "" : name);
        }
        return tail(event, matcher.group(6));
    }

    /** What Xids 74, 144 to 150 and 154 say behind their number. */
    private static KernelEvent.Builder tail(KernelEvent.Builder event, String tail) {
        Matcher unit = NVLINK_UNIT.matcher(tail);
        Matcher recovery = RECOVERY.matcher(tail);
        Matcher link = LINK.matcher(tail);
        if (unit.find()) {
            event.setSeverity(unit.group(1));
            event.setLink(Math.max(0, Integer.parseInt(unit.group(2))));
            event.setSubcode((int) (Long.parseLong(unit.group(3), 16) >> 20 & 0x3F));
        } else if (recovery.find()) {
            event.setSubcode(Integer.parseUnsignedInt(recovery.group(1), 16));
        } else if (link.find()) {
            event.setLink(Integer.parseInt(link.group(1)));
        }
        return event;
    }

    /** Lines of severity and data follow with the same number; the one that says whether it is fatal counts. */
    private static KernelEvent.@Nullable Builder sxid(String line) {
        Matcher matcher = SXID.matcher(line);
        if (!matcher.lookingAt()) {
            return null;
        }
        KernelEvent.Builder event = event(KernelKind.KERNEL_KIND_SXID)
                .setPci(address(matcher.group(1)))
                .setCode(Integer.parseInt(matcher.group(2)))
                .setSeverity(matcher.group(3));
        Matcher link = LINK.matcher(matcher.group(4));
        return link.find() ? event.setLink(Integer.parseInt(link.group(1))) : event;
    }

    private static KernelEvent.@Nullable Builder gone(String line) {
        return GPU_GONE.matcher(line).lookingAt()
                ? event(KernelKind.KERNEL_KIND_GPU_GONE).setPci(gpuAddress(line))
                : null;
    }

    private static KernelEvent.@Nullable Builder gsp(String line) {
        return GSP.matcher(line).lookingAt() ? event(KernelKind.KERNEL_KIND_GSP).setPci(gpuAddress(line)) : null;
    }

    private static KernelEvent.@Nullable Builder card(String line) {
        Matcher matcher = CARD.matcher(line);
        if (!matcher.lookingAt()) {
            return null;
        }
        boolean fatal = CARD_FATAL.matcher(matcher.group(2)).find();
        if (!fatal && !CARD_NOT_FATAL.matcher(matcher.group(2)).find()) {
            return null;
        }
        return event(KernelKind.KERNEL_KIND_NIC)
                .setPci(matcher.group(1).toLowerCase(Locale.ROOT))
                .setSeverity(fatal ? "Fatal" : "Non-fatal");
    }

    private static KernelEvent.@Nullable Builder watchdog(String line) {
        return WATCHDOG.matcher(line).lookingAt()
                ? event(KernelKind.KERNEL_KIND_NIC).setSeverity("Non-fatal")
                : null;
    }

    private static KernelEvent.@Nullable Builder oom(String line) {
        Matcher matcher = OOM.matcher(line);
        return matcher.lookingAt()
                ? event(KernelKind.KERNEL_KIND_OOM_KILL)
                        .setPid(Integer.parseInt(matcher.group(1)))
                        .setProcess(matcher.group(2))
                : null;
    }

    private static KernelEvent.@Nullable Builder hung(String line) {
        Matcher matcher = HUNG.matcher(line);
        return matcher.lookingAt()
                ? event(KernelKind.KERNEL_KIND_HUNG_TASK)
                        .setPid(Integer.parseInt(matcher.group(2)))
                        .setProcess(matcher.group(1))
                : null;
    }

    private static KernelEvent.@Nullable Builder filesystem(String line) {
        return FILESYSTEM.matcher(line).lookingAt() ? event(KernelKind.KERNEL_KIND_FILESYSTEM) : null;
    }

    private static KernelEvent.Builder event(KernelKind kind) {
        return KernelEvent.newBuilder().setKind(kind);
    }

    private static String gpuAddress(String text) {
        Matcher matcher = ANY_PCI.matcher(text);
        return matcher.find() ? address(matcher.group(1)) : "";
    }

    /** Domain of four digits, bus and device, in lower case: {@code 0000:1a:00}. */
    static String address(String pci) {
        String lower = pci.toLowerCase(Locale.ROOT);
        int dot = lower.indexOf('.');
        String device = dot < 0 ? lower : lower.substring(0, dot);
        int colon = device.indexOf(':');
        int extra = colon - 4;
        return extra > 0 && device.startsWith("0".repeat(extra)) ? device.substring(extra) : device;
    }

    /** At most 512 bytes of UTF-8, and no half character. */
    static String cut(String text) {
        String one = text.replace('\n', ' ').strip();
        if (one.getBytes(StandardCharsets.UTF_8).length <= LONGEST_TEXT) {
            return one;
        }
        StringBuilder cut = new StringBuilder();
        int bytes = 0;
        for (int at = 0; at < one.length(); ) {
            int codePoint = one.codePointAt(at);
            String character = Character.toString(codePoint);
            bytes += character.getBytes(StandardCharsets.UTF_8).length;
            if (bytes > LONGEST_TEXT) {
                break;
            }
            cut.append(character);
            at += character.length();
        }
        return cut.toString();
    }
}
