package dev.unhang.healer.web;

import io.vertx.core.http.HttpConnection;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The open connections, bounded. When one too many comes the oldest is closed, not the new one: so ten thousand clients
 * that only sit there cannot lock a person or a health check out. Event loops call it.
 */
final class Connections {

    private final int most;
    private final Set<HttpConnection> oldestFirst = new LinkedHashSet<>();

    Connections(int most) {
        this.most = most;
    }

    void opened(HttpConnection connection) {
        connection.closeHandler(closed -> forget(connection));
        HttpConnection oldest = null;
        synchronized (this) {
            oldestFirst.add(connection);
            if (oldestFirst.size() > most) {
                oldest = oldestFirst.iterator().next();
                oldestFirst.remove(oldest);
            }
        }
        if (oldest != null) {
            oldest.close();
        }
    }

    private synchronized void forget(HttpConnection connection) {
        oldestFirst.remove(connection);
    }
}
