// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.nio.channels.SelectableChannel;

/** A channel of ours, as its selectors see it. */
interface Registrable {
  /** The JDK's channel underneath, which registers with the JDK's selector. */
  SelectableChannel control();

  /** The keys with which it is registered. */
  RegisteredKeys keys();

  /** A selector has let go of a key; the last one may free what a closed channel still holds. */
  void deregistered();
}
