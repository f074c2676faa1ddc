/**
 * The poll loops. Each owns one Kafka consumer on one thread: {@link dev.unhang.healer.intake.TelemetryIntake} feeds the
 * detectors of the telemetry partitions that it owns, {@link dev.unhang.healer.intake.InboxIntake} the decider.
 */
@NullMarked
package dev.unhang.healer.intake;

import org.jspecify.annotations.NullMarked;
