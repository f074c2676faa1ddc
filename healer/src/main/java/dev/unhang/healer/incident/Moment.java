package dev.unhang.healer.incident;

/**
 * The inbox record at which something is decided.
 *
 * @param offset its inbox offset
 * @param logMs log time of the inbox at it, ms: the only time that decides
 * @param stampMs its broker stamp, ms since 1970: for people only
 */
public record Moment(long offset, long logMs, long stampMs) {}
