/**
 * The command line. It speaks HTTP to a healer and loads neither Vert.x nor Kafka nor Protobuf, so that it answers at
 * once; whatever a healer sends is shown through {@link dev.unhang.healer.text.SafeText}.
 */
@NullMarked
package dev.unhang.healer.cli;

import org.jspecify.annotations.NullMarked;
