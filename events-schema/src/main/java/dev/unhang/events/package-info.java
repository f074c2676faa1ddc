/** The records of the log: their messages are generated from the .proto files; here are the topics and the envelope. */
@NullMarked
package dev.unhang.events;

import org.jspecify.annotations.NullMarked;
