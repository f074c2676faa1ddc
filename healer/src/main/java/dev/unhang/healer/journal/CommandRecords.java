package dev.unhang.healer.journal;

import com.google.protobuf.Message;
import dev.unhang.events.v1.Command;
import dev.unhang.events.v1.JournalEntry;
import dev.unhang.events.v1.StateChange;
import dev.unhang.events.v1.Withdraw;
import java.util.ArrayList;
import java.util.List;

/**
 * What goes to {@code unhang.commands} because of a journal entry: an offer, a grant or a withdrawal for each command
 * that this entry brought into that state. A pure function of the entry, so nothing can be sent that is not written.
 */
public final class CommandRecords {

    /** One record: its key, and an {@code Offer}, a {@code Grant} (to be sealed) or a {@code Withdraw}. */
    public record Outgoing(String key, String commandId, Message message) {}

    private CommandRecords() {}

    public static List<Outgoing> of(JournalEntry entry) {
        List<Outgoing> records = new ArrayList<>(0);
        for (StateChange change : entry.getChangesList()) {
            if (!change.hasValue() || !change.getValue().hasCommand()) {
                continue;
            }
            Command command = change.getValue().getCommand();
            if (command.getReleased() && command.getGrantedLogMs() > 0) {
                continue;
            }
            String node = command.getOffer().getNode();
            switch (command.getState()) {
                case COMMAND_OFFERED -> records.add(new Outgoing(node, command.getId(), command.getOffer()));
                case COMMAND_GRANTED -> records.add(new Outgoing(node, command.getId(), command.getGrant()));
                case COMMAND_WITHDRAWN ->
                    records.add(new Outgoing(
                            node,
                            command.getId(),
                            Withdraw.newBuilder()
                                    .setCommandId(command.getId())
                                    .setReason(command.getEndedBy())
                                    .setEpoch(entry.getEpoch())
                                    .build()));
                default -> {
                    // Ended by its executor's own word, or by time: nothing is to be told.
                }
            }
        }
        return records;
    }
}
