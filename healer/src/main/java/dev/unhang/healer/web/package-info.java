/**
 * What people and programs see of the healer: views rebuilt from the log, HTTP, and the meters. Nothing here decides:
 * a person's word goes into the log as a record and comes back as one.
 */
@NullMarked
package dev.unhang.healer.web;

import org.jspecify.annotations.NullMarked;
