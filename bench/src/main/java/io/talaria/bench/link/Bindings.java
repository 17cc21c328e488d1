// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.bench.plan.BindingKind;
import io.talaria.ucx.Ucx;
import java.util.Optional;

/** Finds the implementation of a binding. A new library is named here and in the enum. */
public final class Bindings {
  private Bindings() {}

  /**
   * Loads what a binding needs beyond this program.
   *
   * @param kind which library
   * @return why it cannot be used, with the cure; nothing if it is loaded
   */
  public static Optional<String> load(BindingKind kind) {
    if (kind.sockets()) {
      return Optional.empty();
    }
    return Ucx.obstacle().or(() -> kind == BindingKind.JUCX ? Jucx.obstacle() : Optional.empty());
  }

  /**
   * Makes the beginning of a connection.
   *
   * @param kind which library
   * @param setup what it is for
   */
  public static Binding create(BindingKind kind, Binding.Setup setup) {
    return switch (kind) {
      case NET -> new NetBinding(setup);
      case NIO -> new ChannelBinding(setup, BlockingLink::new);
      case NIO_SELECT -> new ChannelBinding(setup, channel -> new SelectorLink(channel, true));
      case NIO_SPIN -> new ChannelBinding(setup, channel -> new SelectorLink(channel, false));
      case NETTY -> new NettyBinding(setup);
      case JUCX -> new JucxBinding(setup);
      case UCX_STREAM -> new UcxBinding(setup, UcxBinding.STREAM, StreamLink::new);
      case UCX_TAG -> new UcxBinding(setup, UcxBinding.TAG, TagLink::new);
      case UCX_AM -> new UcxBinding(setup, UcxBinding.MESSAGE, MessageLink::new);
      case UCX_PUT -> new UcxBinding(setup, UcxBinding.MEMORY, PutLink::new);
      case UCX_GET -> new UcxBinding(setup, UcxBinding.MEMORY, GetLink::new);
    };
  }
}
