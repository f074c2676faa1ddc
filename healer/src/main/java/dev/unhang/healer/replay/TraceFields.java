package dev.unhang.healer.replay;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/** The fields of a trace's objects, token by token; what is malformed is an exception with its place. Not thread safe. */
final class TraceFields {

    /** A number that is not there. */
    static final double ABSENT = Double.NaN;

    private final JsonParser parser;

    TraceFields(JsonParser parser) {
        this.parser = parser;
    }

    /** Whether the object goes on; then {@link #field} gives its next field. */
    boolean next() throws IOException {
        return parser.nextToken() != JsonToken.END_OBJECT;
    }

    boolean isNull() {
        return parser.currentToken() == JsonToken.VALUE_NULL;
    }

    void skip() throws IOException {
        parser.skipChildren();
    }

    interface Element {
        void read() throws IOException;
    }

    void each(Element element) throws IOException {
        if (isNull()) {
            return;
        }
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw wrong("`" + parser.currentName() + "` must be a list");
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            element.read();
        }
    }

    /** Name of the field; its value is the current token then. */
    String field() throws IOException {
        String name = parser.currentName();
        if (name == null || parser.nextToken() == null) {
            throw wrong("the record ends in its middle");
        }
        return name;
    }

    String text() throws IOException {
        return parser.getText();
    }

    double number() throws IOException {
        return isNull() ? ABSENT : parser.getDoubleValue();
    }

    /** A whole number. Recordings hold some that were computed and carry a fraction. */
    long whole() throws IOException {
        return parser.currentToken() == JsonToken.VALUE_NUMBER_FLOAT
                ? (long) parser.getDoubleValue()
                : parser.getLongValue();
    }

    JsonParseException wrong(String reason) {
        return new JsonParseException(parser, reason, parser.currentTokenLocation());
    }
}
