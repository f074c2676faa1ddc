package dev.unhang.lab.local;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** Asks the healer of the one-machine cluster over HTTP. Each question has a deadline of a few seconds. */
record HealerProbe(int port, String token) {

    private static final int TIMEOUT_MS = 3_000;
    private static final int MOST_BYTES = 1 << 20;

    /** Whether it says that it is ready. */
    boolean ready() {
        return !get("/readyz").isEmpty();
    }

    /** Whether it watches a node, any node, now: one that it only knew before does not count. */
    boolean watches() {
        return get("/api/v1/nodes?watch=watched").replace(" ", "").contains("\"node\":\"");
    }

    /** The body of a good answer; empty for every other and for none. */
    private String get(String path) {
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create("http://" + LocalPorts.HOST + ":" + port + path)
                            .toURL()
                            .openConnection();
            connection.setConnectTimeout(TIMEOUT_MS);
            connection.setReadTimeout(TIMEOUT_MS);
            connection.setRequestProperty("Authorization", "Bearer " + token);
            if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
                return "";
            }
            try (InputStream in = connection.getInputStream()) {
                return " " + new String(in.readNBytes(MOST_BYTES), StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            return "";
        }
    }
}
