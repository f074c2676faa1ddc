package dev.unhang.healer.cli;

import dev.unhang.healer.cli.Exit.CommandFailedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Asks one healer. The JDK's old HTTP client, because the new one needs twice as long to start as all the rest of a
 * command. Which healer: {@code UNHANG_URL} and {@code UNHANG_TOKEN}, else the file that {@code unhang local} writes.
 * That file's token is sent to that file's address only. Confined to the command's thread.
 */
final class HealerClient {

    private static final int CONNECT_MS = 3_000;
    private static final int READ_MS = 15_000;
    private static final int MOST_BYTES = 64 << 20;

    private final String url;
    private final String token;
    private final String next;

    /** {@code next}: what to do when nobody answers there. */
    private HealerClient(String url, String token, String next) {
        this.url = url;
        this.token = token;
        this.next = next;
    }

    /** What came back: the text as it came, and the object in it. */
    record Reply(String text, Answer answer) {}

    static HealerClient of(Map<String, String> environment) {
        String url = environment.getOrDefault("UNHANG_URL", "").strip();
        if (!url.isEmpty()) {
            return new HealerClient(
                    checked(url, "UNHANG_URL"),
                    environment.getOrDefault("UNHANG_TOKEN", "").strip(),
                    "the address is from UNHANG_URL: set it to that of a healer that runs, as http://healer:8080");
        }
        Path file = localFile(environment);
        if (!Files.isRegularFile(file)) {
            throw new CommandFailedException(
                    Exit.NOT_REACHED,
                    "no healer is known: set UNHANG_URL and UNHANG_TOKEN, or start `unhang local`, which writes "
                            + file);
        }
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            properties.load(reader);
            String tokenFile = properties.getProperty("token-file", "");
            String token = environment.getOrDefault("UNHANG_TOKEN", "").strip();
            if (token.isEmpty() && !tokenFile.isEmpty()) {
                token = Files.readString(Path.of(tokenFile), StandardCharsets.UTF_8)
                        .strip();
            }
            return new HealerClient(
                    checked(properties.getProperty("url", ""), file.toString()),
                    token,
                    "the address is from " + file
                            + ": start `unhang local` again, or set UNHANG_URL and UNHANG_TOKEN for another healer");
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandFailedException(
                    Exit.USAGE, file + " cannot be used (" + e + "): remove it, or set UNHANG_URL and UNHANG_TOKEN");
        }
    }

    /** Where {@code unhang local} tells of itself. */
    static Path localFile(Map<String, String> environment) {
        String state = environment.getOrDefault("XDG_STATE_HOME", "");
        Path base = state.isEmpty()
                ? Path.of(environment.getOrDefault("HOME", System.getProperty("user.home", ".")), ".local", "state")
                : Path.of(state);
        return base.resolve("unhang").resolve("client.properties");
    }

    Reply get(String path) {
        return send("GET", path, "");
    }

    /** Null where the healer says that it is not there. */
    @Nullable
    Reply find(String path) {
        try {
            return get(path);
        } catch (CommandFailedException e) {
            if (e.code() == Exit.USAGE) {
                return null;
            }
            throw e;
        }
    }

    Reply post(String path, String body) {
        return send("POST", path, body);
    }

    private Reply send(String method, String path, String body) {
        int status;
        String text;
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create(url + path).toURL().openConnection();
            connection.setRequestMethod(method);
            connection.setConnectTimeout(CONNECT_MS);
            connection.setReadTimeout(READ_MS);
            connection.setInstanceFollowRedirects(false);
            connection.setRequestProperty("Accept", "application/json");
            if (!token.isEmpty()) {
                connection.setRequestProperty("Authorization", "Bearer " + token);
            }
            if (!body.isEmpty()) {
                connection.setDoOutput(true);
                connection.setRequestProperty("Content-Type", "application/json");
                connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
            }
            status = connection.getResponseCode();
            try (InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                text = in == null ? "" : new String(in.readNBytes(MOST_BYTES), StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            throw new CommandFailedException(
                    Exit.NOT_REACHED, "the healer at " + url + " was not reached (" + e.getMessage() + "); " + next);
        } catch (IllegalArgumentException e) {
            throw new CommandFailedException(
                    Exit.USAGE, "UNHANG_TOKEN cannot be sent: it must be one word of printable ASCII characters");
        }
        Answer answer;
        try {
            answer = Answer.read(text);
        } catch (IOException e) {
            throw new CommandFailedException(
                    Exit.NOT_REACHED, "what answers at " + url + " is no healer (HTTP " + status + ", no JSON object)");
        }
        if (status < 200 || status >= 300) {
            throw refused(status, answer);
        }
        return new Reply(text, answer);
    }

    private CommandFailedException refused(int status, Answer problem) {
        int code = switch (status) {
            case 400, 404, 405, 413, 415 -> Exit.USAGE;
            case 401, 403, 409, 429 -> Exit.REFUSED;
            default -> Exit.NOT_REACHED;
        };
        String detail = problem.text("detail").isEmpty() ? "HTTP " + status : problem.text("detail");
        String mend = status == 401 ? "set UNHANG_TOKEN to the token of the healer at " + url : problem.text("mend");
        return new CommandFailedException(
                code, Telling.sentence(detail) + (mend.isEmpty() ? "" : ": " + Telling.sentence(mend)));
    }

    private static String checked(String url, String where) {
        try {
            URI uri = URI.create(url);
            boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            if (http && uri.getHost() != null && uri.getUserInfo() == null) {
                return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
            }
        } catch (IllegalArgumentException e) {
            // told below
        }
        throw new CommandFailedException(
                Exit.USAGE, where + " is '" + url + "' and must be an address as http://healer:8080");
    }
}
