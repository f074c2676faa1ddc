package dev.unhang.healer.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object that a healer sent, read leniently: a member that is missing or of another type is empty, zero or
 * false, so that a command of one version can talk to a healer of another. Immutable.
 */
final class Answer {

    private static final JsonFactory JSON = new JsonFactory();

    private final Map<String, Object> members;

    private Answer(Map<String, Object> members) {
        this.members = members;
    }

    /** Reads one object; throws on anything else. */
    static Answer read(String json) throws IOException {
        try (JsonParser parser = JSON.createParser(json)) {
            parser.nextToken();
            if (value(parser) instanceof Answer answer) {
                return answer;
            }
            throw new IOException("no JSON object");
        }
    }

    boolean has(String name) {
        return members.containsKey(name);
    }

    String text(String name) {
        return members.get(name) instanceof String text ? text : "";
    }

    long number(String name) {
        return members.get(name) instanceof Number number ? number.longValue() : 0;
    }

    double real(String name) {
        return members.get(name) instanceof Number number ? number.doubleValue() : 0;
    }

    boolean flag(String name) {
        return members.get(name) instanceof Boolean flag && flag;
    }

    Answer object(String name) {
        return members.get(name) instanceof Answer answer ? answer : new Answer(Map.of());
    }

    List<Answer> objects(String name) {
        return list(name).stream()
                .filter(Answer.class::isInstance)
                .map(Answer.class::cast)
                .toList();
    }

    List<String> texts(String name) {
        return list(name).stream()
                .filter(String.class::isInstance)
                .map(String.class::cast)
                .toList();
    }

    private List<?> list(String name) {
        return members.get(name) instanceof List<?> list ? list : List.of();
    }

    private static @Nullable Object value(JsonParser parser) throws IOException {
        JsonToken token = parser.currentToken();
        if (token == null) {
            throw new IOException("the answer ends too soon");
        }
        return switch (token) {
            case START_OBJECT -> {
                Map<String, Object> members = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    parser.nextToken();
                    Object member = value(parser);
                    if (member != null) {
                        members.put(name, member);
                    }
                }
                yield new Answer(members);
            }
            case START_ARRAY -> {
                List<Object> items = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    Object item = value(parser);
                    if (item != null) {
                        items.add(item);
                    }
                }
                yield items;
            }
            case VALUE_STRING -> parser.getText();
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            default -> null;
        };
    }
}
