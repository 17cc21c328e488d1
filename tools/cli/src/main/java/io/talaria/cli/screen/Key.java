// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.screen;

/**
 * A key that was pressed.
 *
 * @param name what it is
 * @param character what it types if it is {@link Name#CHARACTER}, else 0
 */
public record Key(Name name, char character) {
  /** Nothing was pressed in time. */
  public static final Key NONE = new Key(Name.NONE, '\0');

  /** What a key is. */
  public enum Name {
    /** Nothing was pressed in time. */
    NONE,
    /** A character; see {@link Key#character}. */
    CHARACTER,
    /** An arrow. */
    UP,
    /** An arrow. */
    DOWN,
    /** An arrow. */
    LEFT,
    /** An arrow. */
    RIGHT,
    /** A page up. */
    PAGE_UP,
    /** A page down. */
    PAGE_DOWN,
    /** To the start. */
    HOME,
    /** To the end. */
    END,
    /** Enter. */
    ENTER,
    /** Escape alone. */
    ESCAPE,
    /** The terminal is gone, or its input ended. */
    CLOSED,
    /** A sequence that means nothing here. */
    OTHER
  }

  /** A character. */
  public static Key of(char character) {
    return new Key(Name.CHARACTER, character);
  }

  /** A key without a character. */
  public static Key of(Name name) {
    return new Key(name, '\0');
  }

  /** Whether it is that character. */
  public boolean is(char wanted) {
    return name == Name.CHARACTER && character == wanted;
  }

  /** Whether it asks to leave: q, Ctrl-C or Ctrl-D typed as characters, or no more input. */
  public boolean leaves() {
    return is('q') || is('Q') || is('\u0003') || is('\u0004') || name == Name.CLOSED;
  }
}
