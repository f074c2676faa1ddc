package dev.unhang.healer.actuator.nic;

import java.nio.file.Path;
import java.util.List;

/**
 * The script that puts a network back when whoever took the port down does not. It needs a shell, ip, timeout and sleep, and
 * nothing of ours. It looks each second; it acts when the actuator is dead, when the port is not up again after 15 s, or when
 * the bounce has no end after 90 s. When the saved file is gone it is called off. Pure.
 */
final class WatchdogScript {

    /** Written by the script once it watches. */
    static final String READY = "nic-bounce.watched";

    /** Written by the actuator once it has set the port up. */
    static final String UP = "nic-bounce.up";

    /** Written by the script once it has put back all that it could, with the seconds since boot. */
    static final String RESTORED = "nic-bounce.restored";

    private WatchdogScript() {}

    /**
     * @param command the command whose bounce it watches, and no other's
     * @param actuator the process that bounces
     * @param startTicks when it started, field 22 of {@code /proc/PID/stat}
     */
    static String of(Path folder, String command, long actuator, String startTicks, List<PutBack.Step> steps) {
        StringBuilder script = new StringBuilder(4096);
        script.append(
                        "#!/bin/sh\n# Puts a network back if the actuator that takes its port down does not live to do it.\n")
                .append("cd ")
                .append(quoted(folder.toString()))
                .append(" || exit 1\n")
                .append("PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin\n")
                .append("LC_ALL=C; export LC_ALL\n")
                .append("t() { timeout 10 \"$@\" >/dev/null 2>&1; }\n")
                .append("open() { grep -qsF ")
                .append(quoted('"' + command + '"'))
                .append(' ')
                .append(SavedBounce.FILE)
                .append("; }\n")
                .append("alive() {\n")
                .append("  stat=$(cat /proc/")
                .append(actuator)
                .append("/stat 2>/dev/null) || return 1\n")
                .append("  set -- ${stat##*) }\n")
                .append("  [ \"$1\" != Z ] && [ \"$1\" != X ] && [ \"${20}\" = ")
                .append(startTicks)
                .append(" ]\n")
                .append("}\n")
                .append("put_back() {\n");
        for (PutBack.Step step : steps) {
            script.append("  t");
            step.command().forEach(word -> script.append(' ').append(quoted(word)));
            script.append('\n');
        }
        script.append("  return 0\n}\n")
                .append("echo $$ >")
                .append(READY)
                .append('\n')
                .append("second=0\n")
                .append("while open; do\n")
                .append("  alive || break\n")
                .append("  [ -e ")
                .append(UP)
                .append(" ] || [ $second -lt 15 ] || break\n")
                .append("  [ $second -lt 90 ] || break\n")
                .append("  sleep 1; second=$((second + 1))\n")
                .append("done\n")
                .append("# Some routes want an address that the kernel still checks for duplicates.\n")
                .append("for round in 1 2 3 4 5 6; do\n")
                .append("  open || exit 0\n")
                .append("  put_back\n")
                .append("  sleep 1\n")
                .append("done\n")
                .append("open && cut -d. -f1 /proc/uptime >")
                .append(RESTORED)
                .append('\n');
        return script.toString();
    }

    static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }
}
