// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;
import java.io.File;
import java.net.InetSocketAddress;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A standalone ZooKeeper server with its NIO connection factory. */
public final class ZooKeeperHost {
  private ZooKeeperHost() {}

  /**
   * Runs the program.
   *
   * @param arguments dir=... for its data
   */
  public static void main(String[] arguments) {
    System.setProperty("zookeeper.forceSync", "no");
    Console.run(
        arguments,
        args -> {
          File dir = new File(args.text("dir", "."));
          ServerCnxnFactory factory = new NIOServerCnxnFactory();
          factory.configure(new InetSocketAddress("127.0.0.1", 0), 100);
          factory.startup(new ZooKeeperServer(dir, dir, 2000));
          Console.say("listening", "port", factory.getLocalPort());
          Console.awaitCommand("shutdown");
          factory.shutdown();
          Console.say("shut");
          Console.awaitEnd();
        });
  }
}
