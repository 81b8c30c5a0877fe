package dev.memsidecar.conversion;

import java.util.List;

/** The text of one part. A part that cannot be stored, as an image, has its type as a placeholder. */
record Piece(String text, boolean isPlaceholder) {
    /** The content of a message without any text: the sidecar stores no empty one, except with tool calls. */
    private static final String EMPTY = "[empty]";

    static Piece text(String text) {
        return new Piece(text, false);
    }

    static Piece placeholder(String kind) {
        return new Piece("[" + kind + "]", true);
    }

    /** Puts each piece on its own line. Texts of a model are joined: it splits them at citations. */
    static String joined(List<Piece> pieces, boolean model) {
        StringBuilder text = new StringBuilder();
        boolean afterText = false;
        for (Piece piece : pieces) {
            if (piece.text.isEmpty()) {
                continue;
            }
            boolean continues = model && afterText && !piece.isPlaceholder;
            if (!text.isEmpty() && !continues) {
                text.append('\n');
            }
            text.append(piece.text);
            afterText = !piece.isPlaceholder;
        }
        return text.toString();
    }

    static String orEmpty(String text) {
        return text.isEmpty() ? EMPTY : text;
    }
}
