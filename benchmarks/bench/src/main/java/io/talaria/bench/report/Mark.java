// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

/** The shapes that mark points: they tell lines apart where colours do not. */
enum Mark {
  CIRCLE("m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z"),
  SQUARE("m-3 -3h6v6h-6z"),
  DIAMOND("m0 -4.5l4 4.5l-4 4.5l-4 -4.5z"),
  UP("m0 -4.5l4 7h-8z"),
  DOWN("m0 4.5l4 -7h-8z");

  private final String shape;

  Mark(String shape) {
    this.shape = shape;
  }

  /** Returns the mark of the line of a number. */
  static Mark of(int line) {
    return values()[line % values().length];
  }

  /** Returns its outline around a point, as the data of an SVG path. */
  String around(double across, double down) {
    return "M" + Xml.at(across) + " " + Xml.at(down) + shape;
  }
}
