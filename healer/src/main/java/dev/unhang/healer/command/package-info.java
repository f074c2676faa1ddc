/** What a command is, for whoever decides it and whoever runs it: the actions, the hash and the signature of a grant. */
@NullMarked
package dev.unhang.healer.command;

import org.jspecify.annotations.NullMarked;
