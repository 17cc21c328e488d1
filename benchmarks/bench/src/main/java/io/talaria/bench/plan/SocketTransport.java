// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Locale;

/** What carries the bytes of a binding to sockets. */
public enum SocketTransport {
  /** The JDK's sockets, nothing added. */
  TCP,
  /** Talaria on shared memory. */
  SHM,
  /** Talaria on UCX. */
  UCX,
  /** No sockets at all: the binding brings its own. */
  DIRECT;

  private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";

  /** Returns the name in files and tables. */
  @JsonValue
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns whether the JVMs run with Talaria's agent. */
  public boolean accelerated() {
    return this == SHM || this == UCX;
  }

  /** Returns what the JVMs are started with. */
  public List<String> jvmOptions() {
    return switch (this) {
      case TCP -> List.of();
      case SHM -> List.of("-Dtalaria.transports=shm");
      case UCX -> List.of("-Dtalaria.transports=ucx", NATIVE);
      case DIRECT -> List.of(NATIVE);
    };
  }
}
