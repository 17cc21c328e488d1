// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

/** What the demo measures, in this order. */
enum DemoPhase {
  /** Round trips on one connection. */
  ROUND_TRIP("round trips of 16 B", 16, 1, 2_000, 3_000),
  /** Round trips on many connections at once, one in flight on each. */
  CONNECTIONS("64 connections on one event loop", 16, 64, 1_500, 2_000),
  /** Small messages one way. */
  SMALL("16 B one way", 16, 1, 1_500, 2_000),
  /** Large messages one way. */
  LARGE("64 KiB one way", 65_536, 1, 1_000, 1_500);

  private final String label;
  private final int sizeBytes;
  private final int connections;
  private final int warmUpMs;
  private final int measureMs;

  DemoPhase(String label, int sizeBytes, int connections, int warmUpMs, int measureMs) {
    this.label = label;
    this.sizeBytes = sizeBytes;
    this.connections = connections;
    this.warmUpMs = warmUpMs;
    this.measureMs = measureMs;
  }

  String label() {
    return label;
  }

  int sizeBytes() {
    return sizeBytes;
  }

  int connections() {
    return connections;
  }

  /** Returns how long it takes before it is measured. */
  int warmUpMs() {
    return warmUpMs;
  }

  /** Returns how long it is measured. */
  int measureMs() {
    return measureMs;
  }

  int totalMs() {
    return warmUpMs + measureMs;
  }
}
