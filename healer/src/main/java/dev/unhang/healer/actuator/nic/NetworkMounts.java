package dev.unhang.healer.actuator.nic;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The file systems of {@code /proc/self/mountinfo} that come over a network, and their servers where they are told. Pure. */
final class NetworkMounts {

    private static final Set<String> TYPES = Set.of(
            "nfs",
            "nfs4",
            "cifs",
            "smb3",
            "ceph",
            "lustre",
            "glusterfs",
            "beegfs",
            "gpfs",
            "wekafs",
            "9p",
            "afs",
            "orangefs",
            "pvfs2",
            "ocfs2",
            "gfs2",
            "quobyte",
            "panfs",
            "vastnfs");

    private static final Set<String> FUSE = Set.of(
            "fuse.sshfs",
            "fuse.glusterfs",
            "fuse.ceph",
            "fuse.ceph-fuse",
            "fuse.s3fs",
            "fuse.gcsfuse",
            "fuse.mountpoint-s3",
            "fuse.juicefs",
            "fuse.beegfs",
            "fuse.moosefs",
            "fuse.mfs",
            "fuse.quobyte",
            "fuse.rclone",
            "fuse.goofys",
            "fuse.blobfuse",
            "fuse.blobfuse2",
            "fuse.davfs",
            "fuse.alluxio-fuse",
            "fuse.seaweedfs",
            "fuse.curve");

    private static final Pattern ADDRESS = Pattern.compile("(?:^|,)(?:mount)?addr=([^,]+)");
    private static final Pattern IN_SOURCE = Pattern.compile("(?://)?\\[?([0-9a-zA-Z.:-]+?)]?(?::\\d+)?(?::/|/).*");

    /**
     * A mount.
     *
     * @param server address or name; empty where the mount does not tell
     */
    record Mount(String point, String type, Optional<String> server) {}

    private NetworkMounts() {}

    static List<Mount> parse(List<String> mountinfo) {
        List<Mount> mounts = new ArrayList<>();
        for (String line : mountinfo) {
            int dash = line.indexOf(" - ");
            String[] before = line.split(" ", -1);
            if (dash < 0 || before.length < 5) {
                continue;
            }
            String[] after = line.substring(dash + 3).split(" ", 3);
            if (TYPES.contains(after[0]) || FUSE.contains(after[0])) {
                String source = after.length > 1 ? after[1] : "";
                String options = after.length > 2 ? after[2] : "";
                mounts.add(new Mount(before[4], after[0], server(after[0], source, options)));
            }
        }
        return mounts;
    }

    /** RDMA moves past the routes, and a parallel file system has more servers than its source names. */
    private static Optional<String> server(String type, String source, String options) {
        boolean oneServer =
                Set.of("nfs", "nfs4", "vastnfs", "cifs", "smb3", "fuse.sshfs").contains(type);
        if (!oneServer || options.contains("proto=rdma")) {
            return Optional.empty();
        }
        Matcher address = ADDRESS.matcher(options);
        if (address.find()) {
            return Optional.of(address.group(1));
        }
        Matcher named = IN_SOURCE.matcher(source);
        return named.matches() && !source.contains(",") ? Optional.of(named.group(1)) : Optional.empty();
    }
}
