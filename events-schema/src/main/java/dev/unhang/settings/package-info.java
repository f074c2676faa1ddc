/** The settings file that every daemon reads: one YAML file, all mistakes told at once, with their lines. */
@NullMarked
package dev.unhang.settings;

import org.jspecify.annotations.NullMarked;
