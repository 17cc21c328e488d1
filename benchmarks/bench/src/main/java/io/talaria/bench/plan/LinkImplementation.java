// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import com.fasterxml.jackson.annotation.JsonValue;
import io.talaria.bench.harness.Implementation;

/**
 * A library on a transport: what JVMs are started for.
 *
 * @param binding the library
 * @param transport the transport
 */
public record LinkImplementation(BindingKind binding, SocketTransport transport)
    implements Implementation {
  /** Returns the name in files, tables and pictures. */
  @Override
  @JsonValue
  public String label() {
    return binding.sockets() ? binding.label() + " " + transport.label() : binding.label();
  }

  @Override
  public boolean onTalaria() {
    return transport.accelerated();
  }

  /** Returns the {@link #label}: what keys of JSON are made of. */
  @Override
  public String toString() {
    return label();
  }
}
