package dev.unhang.collector.source.nccl;

import dev.unhang.events.v1.NcclEvent;
import dev.unhang.events.v1.NcclKind;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the lines of one log of NCCL and PyTorch (forms of NCCL 2.4 to 2.32 and PyTorch 1.13 to 2.9). Takes numbers,
 * addresses and names out of fixed places and nothing else, so that no other word of a line can leave the node. Many lines
 * of PyTorch's desync report do not say to which process group they belong, so the last one that was named is remembered.
 */
final class NcclLines {

    private static final int MOST_RANKS = 8;

    private static final Set<String> OPERATIONS = Set.of(
            "ALLGATHER",
            "ALLGATHER_COALESCED",
            "ALLGATHER_INTO_TENSOR_COALESCED",
            "ALLREDUCE",
            "ALLREDUCE_COALESCED",
            "ALLTOALL",
            "ALLTOALL_BASE",
            "BARRIER",
            "BROADCAST",
            "COALESCED",
            "GATHER",
            "RECV",
            "RECVANYSOURCE",
            "REDUCE",
            "REDUCE_SCATTER",
            "REDUCE_SCATTER_TENSOR_COALESCED",
            "SCATTER",
            "SEND",
            "_ALLGATHER_BASE",
            "_ALLREDUCE_SPARSE",
            "_BROADCAST_OOP",
            "_REDUCE_OOP",
            "_REDUCE_SCATTER_BASE");

    private static final Map<String, Integer> ERRNO = Map.ofEntries(
            Map.entry("Broken pipe", 32),
            Map.entry("Network is down", 100),
            Map.entry("Network is unreachable", 101),
            Map.entry("Software caused connection abort", 103),
            Map.entry("Connection reset by peer", 104),
            Map.entry("Transport endpoint is not connected", 107),
            Map.entry("Connection timed out", 110),
            Map.entry("Connection refused", 111),
            Map.entry("Host is down", 112),
            Map.entry("No route to host", 113),
            Map.entry("Invalid argument", 22),
            Map.entry("No such device", 19));

    /** ibv_event_type by the words of libibverbs (ibv_event_type_str). */
    private static final Map<String, Integer> ASYNC = Map.of(
            "CQ error", 0,
            "local work queue catastrophic error", 1,
            "invalid request local work queue error", 2,
            "local access violation work queue error", 3,
            "path migration failed", 7,
            "local catastrophic error", 8,
            "port error", 10,
            "SRQ catastrophic error", 14);

    private static final Map<String, Integer> RESULTS = Map.of(
            "UnhandledCudaError", 1,
            "SystemError", 2,
            "InternalError", 3,
            "InvalidArgument", 4,
            "InvalidUsage", 5,
            "RemoteError", 6);

    private static final int CUDA = 1;
    private static final int REMOTE = 6;

    private static final String PEER = "([A-Za-z0-9.:_%-]{1,255}?)";

    private static final Pattern COMPLETION = Pattern.compile("Got completion from peer " + PEER
            + "(?:<[0-9a-f]{0,40}>)?,? +with status=(?:[A-Z_]+\\()?(\\d{1,4})\\)?(?: |,|$)");
    private static final Pattern HCA = Pattern.compile(" hca ([A-Za-z0-9_]{1,24})(?:\\s|$)");
    private static final Pattern CLOSED = Pattern.compile("Connection closed by remote peer " + PEER + "<\\d{1,5}>");
    private static final Pattern CONNECT =
            Pattern.compile("[Cc]onnect to " + PEER + "<\\d{1,5}> (?:failed|returned)(.*)");
    private static final Pattern CALL =
            Pattern.compile("Call to (?:recv|send|recvmsg|sendmsg) (?:from|to) " + PEER + "<\\d{1,5}> failed(.*)");
    /** Gloo (transport/tcp/pair.cc), which many jobs use beside NCCL. */
    private static final Pattern GLOO_CLOSED =
            Pattern.compile("Connection closed by peer \\[([0-9a-fA-F.:]{2,45})\\]:\\d");

    private static final Pattern GLOO_ERROR = Pattern.compile(
            "(?:Read error|Write error|writev|readv|Connect error) \\[([0-9a-fA-F.:]{2,45})\\]:\\d{1,5}:(.*)");
    private static final Pattern ASYNC_EVENT = Pattern.compile("NET/IB ?: (?:([A-Za-z0-9_]{1,24}):\\d+ )?"
            + "(?:Got async event ?: |Got async error event: |async fatal event(?: on \\w+ \\([^)]{0,20}\\))?: )(.*)");
    private static final Pattern GID_CHANGED =
            Pattern.compile("NET/IB ?: (?:([A-Za-z0-9_]{1,24}):\\d+ )?GID table changed");
    private static final Pattern VERBS = Pattern.compile("Call to ibv_\\w{1,40} failed with (?:error )?(.*)");
    private static final Pattern VERBS_DEVICE = Pattern.compile(", on dev ([A-Za-z0-9_]{1,24}):\\d");
    private static final Pattern RESULT = Pattern.compile("NCCL INFO \\S+:\\d+ -> (\\d)(?: |$)");
    private static final Pattern RESULT_NAME = Pattern.compile("\\bnccl(UnhandledCudaError|SystemError|InternalError"
            + "|InvalidArgument|InvalidUsage|RemoteError)\\b ?:");
    private static final Pattern CUDA_FAILURE = Pattern.compile("Cuda failure (?:\\d+ )?'");

    private static final Pattern GROUP = Pattern.compile("\\[PG (?:ID )?(\\d{1,9})[ \\]]");
    private static final Pattern WATCHDOG = Pattern.compile("Watchdog caught collective operation timeout: WorkNCCL\\("
            + "(?:SeqNum=(\\d{1,18}), )?OpType=(\\w{1,40})");
    private static final Pattern LAST_WORK = Pattern.compile("[Ll]ast enqueued (?:NCCL )?work: (-?\\d{1,18}),"
            + "(?: last started work: [^,]{1,60},)? last completed (?:NCCL )?work: (-?\\d{1,18})");
    private static final Pattern AT_WORK =
            Pattern.compile("(?:detected by watchdog at work(?: sequence id)?|Timeout at NCCL work): (\\d{1,18})");
    private static final Pattern JOINED =
            Pattern.compile("\\[(\\d{1,8}(?:, ?\\d{1,8})*)\\] joined but didn't finish collective #(\\d{1,18})");
    private static final Pattern FINISHED = Pattern.compile("\\[(\\d{1,8}(?:, ?\\d{1,8})*)\\] finished collective "
            + "#\\d{1,18}, but didn't join collective #(\\d{1,18})");
    private static final Pattern NEVER =
            Pattern.compile("ranks \\[(\\d{1,8}(?:, ?\\d{1,8})*)\\] are the lagging ranks that caused this timeout");

    private static final List<String> DUMPS = List.of(
            "Flight Recorder trace successfully dumped",
            "Finished writing Flight Recorder debug info",
            "Finished writing NCCLPG debug info",
            "Observed flight recorder dump signal",
            "ProcessGroupNCCL preparing to dump debug info");
    private static final List<String> STUCK =
            List.of("ProcessGroupNCCL's watchdog got stuck for", "Heartbeat monitor timed out!");
    private static final List<String> SETUP = List.of(
            "no socket interface found",
            "No usable listening interface found",
            "Mismatched NCCL version detected",
            "Multiple Ranks are using the same GPU",
            "Duplicate GPU detected",
            "failed to extend /dev/shm/nccl-");

    /** Whatever a line of interest holds, so that all others cost next to nothing. */
    private static final List<String> MARKS = List.of(
            "NCCL",
            "nccl",
            "[PG ",
            "watchdog",
            "gloo",
            " peer ",
            "NET/",
            "socket",
            "Call to ",
            " collective #",
            "lagging ranks",
            "Recorder");

    private static final Pattern IPV4 = Pattern.compile("(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}");
    private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.]{2,45}");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?");

    private boolean otherGroup;

    /** Null where the line says nothing that we look for. Pid, start and count are left to the caller. */
    NcclEvent.@Nullable Builder parse(String line) {
        if (MARKS.stream().noneMatch(line::contains)) {
            return null;
        }
        Matcher group = GROUP.matcher(line);
        if (group.find()) {
            otherGroup = !group.group(1).equals("0") && !line.contains("(default_pg)");
        }
        NcclEvent.Builder event = ofPeers(line);
        event = event == null ? ofTorch(line) : event;
        event = event == null ? ofDevices(line) : event;
        return event == null ? ofResults(line) : event;
    }

    private static NcclEvent.@Nullable Builder ofPeers(String line) {
        Matcher completion = COMPLETION.matcher(line);
        if (completion.find()) {
            Matcher hca = HCA.matcher(line);
            return peer(NcclKind.NCCL_KIND_COMPLETION, completion.group(1))
                    .setCode(Integer.parseInt(completion.group(2)))
                    .setDevice(hca.find() ? hca.group(1) : "");
        }
        Matcher closed = CLOSED.matcher(line);
        if (closed.find()) {
            return peer(NcclKind.NCCL_KIND_CONNECTION_CLOSED, closed.group(1));
        }
        Matcher gloo = GLOO_CLOSED.matcher(line);
        if (gloo.find()) {
            return peer(NcclKind.NCCL_KIND_CONNECTION_CLOSED, gloo.group(1));
        }
        // At the start of a job peers listen late, and NCCL tells each retry at INFO.
        if (line.contains("NCCL INFO")) {
            return null;
        }
        for (Pattern form : List.of(CONNECT, CALL, GLOO_ERROR)) {
            Matcher lost = form.matcher(line);
            if (lost.find()) {
                return peer(NcclKind.NCCL_KIND_PEER_LOST, lost.group(1)).setCode(errno(lost.group(2)));
            }
        }
        return null;
    }

    private NcclEvent.@Nullable Builder ofTorch(String line) {
        Matcher watchdog = WATCHDOG.matcher(line);
        if (watchdog.find()) {
            NcclEvent.Builder event = event(NcclKind.NCCL_KIND_WATCHDOG_TIMEOUT);
            if (watchdog.group(1) != null) {
                event.setSeq(Long.parseLong(watchdog.group(1)));
            }
            return event.setOp(OPERATIONS.contains(watchdog.group(2)) ? watchdog.group(2) : "");
        }
        Matcher last = LAST_WORK.matcher(line);
        if (last.find()) {
            NcclEvent.Builder event = event(NcclKind.NCCL_KIND_LAST_WORK)
                    .setLastEnqueued(Long.parseLong(last.group(1)))
                    .setLastCompleted(Long.parseLong(last.group(2)))
                    .setOtherGroup(otherGroup);
            Matcher at = AT_WORK.matcher(line);
            return at.find() ? event.setSeq(Long.parseLong(at.group(1))) : event;
        }
        for (Pattern form : List.of(JOINED, FINISHED, NEVER)) {
            Matcher desync = form.matcher(line);
            if (desync.find()) {
                return desync(desync);
            }
        }
        if (DUMPS.stream().anyMatch(line::contains)) {
            return event(NcclKind.NCCL_KIND_FLIGHT_RECORDER);
        }
        return STUCK.stream().anyMatch(line::contains) ? event(NcclKind.NCCL_KIND_WATCHDOG_STUCK) : null;
    }

    private NcclEvent.Builder desync(Matcher desync) {
        List<Integer> ranks = Stream.of(desync.group(1).split(", ?", -1))
                .map(Integer::valueOf)
                .toList();
        NcclEvent.Builder event = event(NcclKind.NCCL_KIND_DESYNC)
                .setRanksNamed(ranks.size())
                .setOtherGroup(otherGroup)
                .addAllRanks(ranks.size() <= MOST_RANKS ? ranks : List.of());
        return desync.groupCount() > 1 ? event.setSeq(Long.parseLong(desync.group(2))) : event;
    }

    private static NcclEvent.@Nullable Builder ofDevices(String line) {
        Matcher async = ASYNC_EVENT.matcher(line);
        if (async.find()) {
            for (Map.Entry<String, Integer> each : ASYNC.entrySet()) {
                if (async.group(2).startsWith(each.getKey())) {
                    return event(NcclKind.NCCL_KIND_ASYNC_EVENT)
                            .setCode(each.getValue())
                            .setDevice(async.group(1) == null ? "" : async.group(1));
                }
            }
            return null; // as "port active", which is good news
        }
        Matcher gid = GID_CHANGED.matcher(line);
        if (gid.find()) {
            return event(NcclKind.NCCL_KIND_ASYNC_EVENT)
                    .setCode(18)
                    .setDevice(gid.group(1) == null ? "" : gid.group(1));
        }
        Matcher verbs = VERBS.matcher(line);
        if (verbs.find()) {
            Matcher device = VERBS_DEVICE.matcher(line);
            return event(NcclKind.NCCL_KIND_SETUP)
                    .setCode(errno(verbs.group(1)))
                    .setDevice(device.find() ? device.group(1) : "");
        }
        return SETUP.stream().anyMatch(line::contains) ? event(NcclKind.NCCL_KIND_SETUP) : null;
    }

    private static NcclEvent.@Nullable Builder ofResults(String line) {
        // A program that ends is told so by CUDA, and one that asks for too much memory too: no broken node.
        boolean harmless = line.contains("driver shutting down") || line.contains("out of memory");
        boolean cuda = CUDA_FAILURE.matcher(line).find()
                || line.contains("watchdog thread terminated with exception: CUDA error");
        if (cuda) {
            return harmless ? null : result(CUDA);
        }
        Matcher named = RESULT_NAME.matcher(line);
        if (named.find()) {
            return result(RESULTS.getOrDefault(named.group(1), 0));
        }
        Matcher traced = RESULT.matcher(line);
        return traced.find() ? result(Integer.parseInt(traced.group(1))) : null;
    }

    private static NcclEvent.@Nullable Builder result(int code) {
        if (code == 0 || code > REMOTE) {
            return null; // success, and what is in progress
        }
        return event(code == REMOTE ? NcclKind.NCCL_KIND_REMOTE_ERROR : NcclKind.NCCL_KIND_LOCAL_ERROR)
                .setCode(code);
    }

    private static NcclEvent.Builder event(NcclKind kind) {
        return NcclEvent.newBuilder().setKind(kind);
    }

    /** Whatever has not the form of an address or a host name is left out. */
    private static NcclEvent.Builder peer(NcclKind kind, String text) {
        int zone = text.indexOf('%');
        String peer = zone < 0 ? text : text.substring(0, zone);
        boolean fits = peer.indexOf(':') >= 0
                ? IPV6.matcher(peer).matches()
                : peer.matches("[\\d.]+")
                        ? IPV4.matcher(peer).matches()
                        : HOST.matcher(peer).matches();
        return event(kind).setPeer(fits ? peer : "");
    }

    /** By the number at the beginning, or the words of the C library; 0 where neither is known. */
    private static int errno(String text) {
        for (Map.Entry<String, Integer> each : ERRNO.entrySet()) {
            if (text.contains(each.getKey())) {
                return each.getValue();
            }
        }
        Matcher number = Pattern.compile("^ ?:? ?(?:errno )?(\\d{1,3})\\b").matcher(text);
        return number.find() ? Integer.parseInt(number.group(1)) : 0;
    }
}
