package dev.unhang.lab.simulate;

/**
 * One of the nine rules of safety as a checker. It is told of each fact as it becomes one, after every event, and judges by
 * the world and the logs alone, never by what the code under test says of itself. Confined to one thread.
 */
abstract class Rule {

    private final int number;

    Rule(int number) {
        this.number = number;
    }

    /** A record was appended. */
    void appended(SimulatedKafka.Log log, SimulatedKafka.Appended record) {}

    /** A step of the decider was committed, and the chronicle knows it. */
    void committed(SimulatedKafka.Committed step) {}

    /** An action begins, physically. It is among those that run. */
    void started(Attempt attempt) {}

    /** An action ended, physically. */
    void ended(Attempt attempt) {}

    /** All is quiet and had its time. */
    void atEnd() {}

    final void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new BrokenRule(number, otherwise);
        }
    }
}
