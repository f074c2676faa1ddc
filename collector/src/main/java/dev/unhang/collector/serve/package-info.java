/** What a node answers to those who ask it: metrics and health over HTTP, and local commands over a socket. */
@NullMarked
package dev.unhang.collector.serve;

import org.jspecify.annotations.NullMarked;
