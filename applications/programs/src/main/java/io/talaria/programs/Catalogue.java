// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.util.Locale;

/** The third-party programs that there are. */
public enum Catalogue {
  /** ActiveMQ's broker on its transport {@code nio}. */
  ACTIVEMQ(false),
  /** ActiveMQ Artemis on Netty. */
  ARTEMIS(false),
  /** Grizzly's HTTP server. */
  GRIZZLY(false),
  /** H2's TCP server and JDBC driver. */
  H2(true),
  /** Hazelcast: puts into a map and gets from it. */
  HAZELCAST(false),
  /** Apache HttpComponents: its asynchronous HTTP server and client. */
  HTTPCOMPONENTS(false),
  /** JGroups on {@code TCP_NIO2}. */
  JGROUPS(false),
  /** Jedis, and as much of a Redis server as it needs. */
  JEDIS(true),
  /** Lettuce, and the same server. */
  LETTUCE(false),
  /** MINA. */
  MINA(false),
  /** Pekko remoting. */
  PEKKO(false),
  /** Tomcat's NIO connector and the JDK's HTTP client. */
  TOMCAT(false),
  /** Undertow and the JDK's HTTP client. */
  UNDERTOW(false),
  /** Vert.x: its HTTP server and client. */
  VERTX(false),
  /** Java-WebSocket: its server, and its client on {@code java.net.Socket}. */
  WEBSOCKET(true);

  private final boolean oldSockets;

  Catalogue(boolean oldSockets) {
    this.oldSockets = oldSockets;
  }

  /** Returns the program; loads its library. */
  public ThirdParty open() {
    return switch (this) {
      case ACTIVEMQ -> new ActiveMqProgram();
      case ARTEMIS -> new ArtemisProgram();
      case GRIZZLY -> new GrizzlyProgram();
      case H2 -> new H2Program();
      case HAZELCAST -> new HazelcastProgram();
      case HTTPCOMPONENTS -> new HttpComponentsProgram();
      case JGROUPS -> new JGroupsProgram();
      case JEDIS -> new JedisProgram();
      case LETTUCE -> new LettuceProgram();
      case MINA -> new MinaProgram();
      case PEKKO -> new PekkoProgram();
      case TOMCAT -> new TomcatProgram();
      case UNDERTOW -> new UndertowProgram();
      case VERTX -> new VertxProgram();
      case WEBSOCKET -> new JavaWebSocketProgram();
    };
  }

  /**
   * Returns whether one side uses {@code java.net.Socket}, which Talaria takes with {@code
   * talaria.sockets} only.
   */
  public boolean oldSockets() {
    return oldSockets;
  }

  /** Returns the word that users write. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
