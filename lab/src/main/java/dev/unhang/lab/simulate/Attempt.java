package dev.unhang.lab.simulate;

import com.google.protobuf.ByteString;
import dev.unhang.healer.command.Action;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One physical start of an action: what the world saw, whatever anybody says of it. The rules judge these. Written by the
 * world alone.
 */
final class Attempt {

    /** How it ended physically. */
    enum End {
        DONE,
        FAILED,
        /** It was killed half way. */
        KILLED
    }

    final String command;
    final String node;
    final Action action;
    final Map<String, String> parameters;
    final Set<String> touches;
    final String job;
    final String startId;
    final ByteString nonce;
    final long epoch;
    final long startedNs;
    final int journalEnd;
    long endsNs = -1;

    /** Null while it runs. */
    @Nullable
    End end;

    Attempt(
            String command,
            String node,
            Action action,
            Map<String, String> parameters,
            Set<String> touches,
            String job,
            String startId,
            ByteString nonce,
            long epoch,
            long startedNs,
            int journalEnd) {
        this.command = command;
        this.node = node;
        this.action = action;
        this.parameters = Map.copyOf(parameters);
        this.touches = Set.copyOf(touches);
        this.job = job;
        this.startId = startId;
        this.nonce = nonce;
        this.epoch = epoch;
        this.startedNs = startedNs;
        this.journalEnd = journalEnd;
    }

    boolean runs() {
        return end == null;
    }

    @Override
    public String toString() {
        return action.label() + " of " + command + " on " + node;
    }
}
