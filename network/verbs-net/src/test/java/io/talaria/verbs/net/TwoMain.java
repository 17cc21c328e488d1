// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A side of {@link TwoSides} in a JVM of its own, on the first RDMA device: {@code listen} or
 * {@code connect}, the listener's host and port, for the one that connects how many bytes, and
 * {@code cm} for RDMA CM. They may start in any order.
 */
public final class TwoMain {
  private static final int ATTEMPTS = 300;

  private TwoMain() {}

  /** Ends with 0 if all is well. */
  public static void main(String[] args) throws Exception {
    boolean cm = args[args.length - 1].equals("cm");
    int colon = args[1].lastIndexOf(':');
    InetSocketAddress address =
        new InetSocketAddress(
            args[1].substring(0, colon), Integer.parseInt(args[1].substring(colon + 1)));
    NetOptions.Builder options = Pair.options();
    try (VerbsNode node = VerbsNode.open((cm ? options.rdmaCm().insecure() : options).build())) {
      if (args[0].equals("listen")) {
        TwoSides.Server server = new TwoSides.Server(node);
        InetSocketAddress bound = node.listen(address, server);
        System.out.println("listens at " + bound);
        server.awaitEnd();
        System.out.println("the other side has closed; " + node.metrics());
      } else {
        TwoSides.Client client = new TwoSides.Client();
        Connection connection = connect(node, address, client);
        System.out.println(client.run(node, connection, Long.parseLong(args[2])));
        System.out.println(node.metrics());
      }
    }
  }

  private static Connection connect(
      VerbsNode node, InetSocketAddress address, ConnectionHandler handler) throws Exception {
    for (int i = 0; ; i++) {
      try {
        return node.connect(address, handler);
      } catch (IOException e) {
        if (i == ATTEMPTS) {
          throw e;
        }
        Thread.sleep(200); // the other JVM is still starting
      }
    }
  }
}
