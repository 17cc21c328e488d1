// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.verbs.net.NetOptions;
import io.talaria.verbs.net.VerbsNode;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Connects by verbs-net: each connection has a node of its own, with a send and a receive thread.
 * Anybody may connect for as long as it listens, which is until the connection is there.
 */
final class VerbsNetBinding implements Binding {
  private static final int MIN_SLICE = 4 << 10;

  /** What is longer is sent as a large message. */
  private static final int MAX_SLICE = 64 << 10;

  /** A node wants room for a large message, however short the longest one is. */
  private static final long MIN_LARGE_MEMORY = 1 << 20;

  private final Setup setup;
  private VerbsNode node;
  private VerbsNetLink link;

  VerbsNetBinding(Setup setup) {
    this.setup = setup;
  }

  private void open() {
    int slice = Math.clamp(setup.maxBytes(), MIN_SLICE, MAX_SLICE);
    node =
        VerbsNode.open(
            NetOptions.builder()
                .connections(1)
                .sendThreads(1)
                .receiveThreads(1)
                .sliceBytes(slice)
                .sendSlices(64)
                .window(64)
                .largeBytes(Math.max(setup.maxBytes(), slice))
                .largeMemoryBytes(
                    Math.max(MIN_LARGE_MEMORY, 8L * Math.max(setup.maxBytes(), slice)))
                .handshakeMs(CONNECT_LIMIT_MS)
                .insecure()
                .build());
    link = new VerbsNetLink(node, setup.maxBytes());
  }

  @Override
  public String offer() throws IOException {
    open();
    return Integer.toString(node.listen(new InetSocketAddress(0), link.handler()).getPort());
  }

  @Override
  public String answer(String offer) throws IOException {
    open();
    link.use(
        node.connect(new InetSocketAddress(setup.host(), Integer.parseInt(offer)), link.handler()));
    return "";
  }

  @Override
  public void accept(String answer) throws IOException {
    link.awaitConnection(CONNECT_LIMIT_MS);
  }

  @Override
  public Link link() {
    return link;
  }

  @Override
  public void close() {
    // The link closes the node.
  }
}
