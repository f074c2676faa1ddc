package dev.unhang.healer.web;

import com.google.protobuf.ByteString;
import dev.unhang.events.v1.ActivityClass;
import dev.unhang.events.v1.GpuReport;
import dev.unhang.events.v1.NicReport;
import dev.unhang.events.v1.NodeReport;
import dev.unhang.events.v1.OperState;
import dev.unhang.events.v1.ReadStatus;
import dev.unhang.events.v1.Watch;
import java.util.OptionalLong;

/**
 * The last report of a node, as small as the lists need it: at ten thousand nodes the parsed reports would take ten
 * times the memory, so the whole stays as the bytes that came and is parsed again when somebody asks for that node.
 *
 * @param gpusFaulty GPUs whose last read failed, or that are gone; one that cannot answer or was released is not faulty
 * @param nicsDown NICs that were up once and are down now
 * @param clockOffsetNs above zero: the node's clock is ahead
 */
record SeenNode(
        ByteString report,
        int partition,
        long generation,
        long stampMs,
        Watch watch,
        boolean well,
        int gpus,
        int gpusFaulty,
        int nics,
        int nicsDown,
        int ranks,
        OptionalLong clockOffsetNs) {

    static SeenNode of(NodeReport report) {
        int faulty = 0;
        for (GpuReport gpu : report.getGpusList()) {
            faulty += faulty(gpu) ? 1 : 0;
        }
        int down = 0;
        for (NicReport nic : report.getNicsList()) {
            down += down(nic) ? 1 : 0;
        }
        return new SeenNode(
                report.toByteString(),
                report.getOrigin().getPartition(),
                report.getOrigin().getGeneration(),
                report.getStampMs(),
                report.getWatch(),
                report.getWell(),
                report.getGpusCount(),
                faulty,
                report.getNicsCount(),
                down,
                report.getRanksCount(),
                report.hasClockOffsetNs() ? OptionalLong.of(report.getClockOffsetNs()) : OptionalLong.empty());
    }

    static boolean faulty(GpuReport gpu) {
        ReadStatus status = gpu.getStatus();
        boolean read = status == ReadStatus.READ_STATUS_OK
                || status == ReadStatus.READ_STATUS_NOT_SUPPORTED
                || status == ReadStatus.READ_STATUS_RELEASED;
        return !read || gpu.getActivity() == ActivityClass.ACTIVITY_CLASS_GONE;
    }

    static boolean down(NicReport nic) {
        return nic.getWasUp()
                && (nic.getState() == OperState.OPER_STATE_DOWN
                        || nic.getState() == OperState.OPER_STATE_LOWER_LAYER_DOWN
                        || (nic.getState() == OperState.OPER_STATE_NOT_PRESENT && nic.getDownMs() > 0));
    }
}
