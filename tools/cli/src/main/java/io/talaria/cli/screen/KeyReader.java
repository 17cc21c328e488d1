// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.screen;

import java.io.IOException;

/** Makes keys of characters: arrows and the like come as several. For one thread at a time. */
final class KeyReader {
  private static final char ESCAPE = '\u001b';

  /** The characters of one key follow each other at once; over a slow line nearly so. */
  private static final long SEQUENCE_MS = 50;

  private static final int MAX_CHARACTERS = 16;

  private final Source source;

  /** Where characters come from. */
  @FunctionalInterface
  interface Source {
    /** Nothing came in time. */
    int NOTHING = -2;

    /** Nothing will come any more. */
    int ENDED = -1;

    /** The next character, or one of the constants. */
    int read(long timeoutMs) throws IOException;
  }

  KeyReader(Source source) {
    this.source = source;
  }

  /** Waits for a key for so long. */
  Key read(long timeoutMs) throws IOException {
    int first = source.read(timeoutMs);
    return switch (first) {
      case Source.NOTHING -> Key.NONE;
      case Source.ENDED -> Key.of(Key.Name.CLOSED);
      case ESCAPE -> sequence();
      case '\r', '\n' -> Key.of(Key.Name.ENTER);
      default -> Key.of((char) first);
    };
  }

  /** What follows an escape: {@code [} or {@code O}, digits and semicolons, a last character. */
  private Key sequence() throws IOException {
    int introducer = source.read(SEQUENCE_MS);
    if (introducer == Source.NOTHING) {
      return Key.of(Key.Name.ESCAPE);
    }
    if (introducer == Source.ENDED) {
      return Key.of(Key.Name.CLOSED);
    }
    if (introducer != '[' && introducer != 'O') {
      return Key.of(Key.Name.OTHER);
    }
    StringBuilder middle = new StringBuilder();
    while (middle.length() < MAX_CHARACTERS) {
      int next = source.read(SEQUENCE_MS);
      if (next < 0) {
        break;
      }
      if (next >= '@' && next <= '~') {
        return named((char) next, middle.toString());
      }
      middle.append((char) next);
    }
    return Key.of(Key.Name.OTHER);
  }

  private static Key named(char last, String middle) {
    return Key.of(
        switch (last) {
          case 'A' -> Key.Name.UP;
          case 'B' -> Key.Name.DOWN;
          case 'C' -> Key.Name.RIGHT;
          case 'D' -> Key.Name.LEFT;
          case 'H' -> Key.Name.HOME;
          case 'F' -> Key.Name.END;
          case 'M' -> Key.Name.ENTER;
          case '~' ->
              switch (middle) {
                case "5" -> Key.Name.PAGE_UP;
                case "6" -> Key.Name.PAGE_DOWN;
                case "1", "7" -> Key.Name.HOME;
                case "4", "8" -> Key.Name.END;
                default -> Key.Name.OTHER;
              };
          default -> Key.Name.OTHER;
        });
  }
}
