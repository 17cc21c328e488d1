// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.adaptor.SocketChannels;
import io.talaria.nio.config.Config;
import io.talaria.nio.context.Context;
import io.talaria.nio.control.InheritedChannel;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

/** Opens channels and selectors: ours, or the JDK's own while acceleration is off. */
public final class Channels {
  private final boolean jmx;
  private final Context context;
  private final InheritedChannel inherited;

  /**
   * Reads and checks the configuration.
   *
   * @param provider the provider that programs see
   * @throws IllegalArgumentException if a property is bad
   */
  public Channels(SelectorProvider provider) {
    Config config = Config.load();
    jmx = config.jmx();
    context = new Context(provider, config);
    inherited =
        new InheritedChannel(
            jdk(), listener -> TalariaServerSocketChannel.inherited(context, listener));
  }

  /** Whether the user wants to see Talaria by JMX. */
  public boolean wantsJmx() {
    return jmx && context.enabled();
  }

  /** The JDK's own provider. */
  public SelectorProvider jdk() {
    return context.jdk();
  }

  /** Opens a TCP channel. */
  public SocketChannel openSocketChannel() throws IOException {
    return wrap(jdk().openSocketChannel());
  }

  /** Opens a channel of a protocol family; only TCP is ours. */
  public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
    SocketChannel opened = jdk().openSocketChannel(family);
    return family == StandardProtocolFamily.UNIX ? opened : wrap(opened);
  }

  private SocketChannel wrap(SocketChannel opened) {
    return context.enabled() ? new TalariaSocketChannel(context, opened) : opened;
  }

  /** Opens a listener. */
  public ServerSocketChannel openServerSocketChannel() throws IOException {
    return wrap(jdk().openServerSocketChannel());
  }

  /** Opens a listener of a protocol family; only TCP is ours. */
  public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
    ServerSocketChannel opened = jdk().openServerSocketChannel(family);
    return family == StandardProtocolFamily.UNIX ? opened : wrap(opened);
  }

  private ServerSocketChannel wrap(ServerSocketChannel opened) {
    return context.enabled() ? new TalariaServerSocketChannel(context, opened) : opened;
  }

  /** What a super-server has handed over: see {@link InheritedChannel}. */
  public Channel inheritedChannel() throws IOException {
    return context.enabled() ? inherited.get() : jdk().inheritedChannel();
  }

  /** Opens channels to stand behind {@code java.net.Socket}: always ours. */
  public SocketChannels socketChannels() {
    return new SocketChannels() {
      @Override
      public Client openClient() throws IOException {
        return TalariaSocketChannel.forSocket(context, jdk().openSocketChannel());
      }

      @Override
      public Listener openListener() throws IOException {
        return TalariaServerSocketChannel.forSocket(context, jdk().openServerSocketChannel());
      }
    };
  }

  /** Opens a selector for channels of ours and of the JDK's. */
  public AbstractSelector openSelector() throws IOException {
    return context.enabled() && !SelectorCaller.needsJdkSelector()
        ? new TalariaSelector(context)
        : jdk().openSelector();
  }
}
