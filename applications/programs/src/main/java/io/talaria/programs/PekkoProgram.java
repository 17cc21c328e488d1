// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorSelection;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.apache.pekko.pattern.Patterns;

/** Pekko's remoting, Artery on TCP: each client is a system of its own and asks an actor. */
final class PekkoProgram implements ThirdParty {
  private static ActorSystem system(String name, int port) {
    Config config =
        ConfigFactory.parseString(
            """
            pekko.loglevel = WARNING
            pekko.actor.provider = remote
            pekko.remote.artery.transport = tcp
            pekko.remote.artery.canonical { hostname = "127.0.0.1", port = %d }
            """
                .formatted(port));
    return ActorSystem.create(name, config.withFallback(ConfigFactory.load()));
  }

  /** Answers with what it is told. */
  public static final class Echo extends AbstractActor {
    @Override
    public Receive createReceive() {
      return receiveBuilder()
          .match(byte[].class, message -> getSender().tell(message, getSelf()))
          .build();
    }
  }

  @Override
  public int maxBytes() {
    return 200_000; // of frames of 256 KiB
  }

  @Override
  public int serve(Path folder) throws Exception {
    int port = ThirdParty.freePort();
    system("server", port).actorOf(Props.create(Echo.class), "echo");
    return port;
  }

  @Override
  public Guest connect(int port) {
    ActorSelection echo =
        system("client", 0).actorSelection("pekko://server@127.0.0.1:" + port + "/user/echo");
    Duration patience = Duration.ofSeconds(PATIENCE_S);
    return new Guest() {
      @Override
      public byte[] exchange(byte[] message) throws Exception {
        return (byte[])
            Patterns.ask(echo, message, patience)
                .toCompletableFuture()
                .get(PATIENCE_S, TimeUnit.SECONDS);
      }

      @Override
      public int threads() {
        return 2;
      }
    };
  }
}
