// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.TalariaProvider;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A program of many connections, one after the other, while some stand from beginning to end; all
 * bytes are compared.
 *
 * <pre>
 *   alone COUNT SEED          with itself
 *   serve                     says "port PORT", and "holds ..." for each line of its input
 *   connect PORT COUNT SEED   with that one
 *   flood PORT                writes to that one for ever, and says "floods"
 *   watch PORT                asks that one for an echo when told to: see {@link TrafficWatch}
 * </pre>
 *
 * <p>Clients say {@code MODE REASON COUNT} for each way that connections went which waited for
 * their way, and {@code holds mappings COUNT descriptors COUNT} at the end. Ends with 0 if all was
 * well.
 */
final class Traffic {
  private Traffic() {}

  /** Something that may fail. */
  interface Work {
    void run() throws IOException;
  }

  /** Runs it; if it fails, the process ends. */
  static void orEnd(Work work) {
    try {
      work.run();
    } catch (IOException | RuntimeException | Error e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }

  /**
   * Runs it.
   *
   * @param arguments as above
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    guardFor(Long.getLong("talaria.test.guard.seconds", 200));
    TalariaProvider provider = new TalariaProvider();
    switch (arguments[0]) {
      case "serve" -> serve(new TrafficServer(provider, false));
      case "connect" ->
          new TrafficClients(provider, server(arguments[1]), null, Long.parseLong(arguments[3]))
              .run(Integer.parseInt(arguments[2]));
      case "flood" -> TrafficWatch.flood(provider, server(arguments[1]));
      case "watch" -> new TrafficWatch(provider, server(arguments[1])).run();
      default -> {
        TrafficServer server = new TrafficServer(provider, true);
        new TrafficClients(provider, server.address(), server.sunk, Long.parseLong(arguments[2]))
            .run(Integer.parseInt(arguments[1]));
      }
    }
    System.exit(0);
  }

  private static InetSocketAddress server(String port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
  }

  private static void serve(TrafficServer server) throws IOException {
    System.out.println("port " + server.address().getPort());
    BufferedReader questions =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    while (questions.readLine() != null) {
      System.out.println(holds());
    }
  }

  /** What the process holds, after a collection. */
  static String holds() throws IOException {
    System.gc();
    try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"));
        Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return "holds mappings " + mappings.count() + " descriptors " + descriptors.count();
    }
  }

  /** Shows all threads and ends the process if it takes longer. */
  private static void guardFor(long seconds) {
    Thread guard =
        new Thread(
            () -> {
              try {
                Thread.sleep(seconds * 1000);
              } catch (InterruptedException e) {
                return;
              }
              for (Map.Entry<Thread, StackTraceElement[]> each :
                  Thread.getAllStackTraces().entrySet()) {
                System.err.println(each.getKey());
                List.of(each.getValue()).forEach(line -> System.err.println("    " + line));
              }
              Runtime.getRuntime().halt(3);
            },
            "guard");
    guard.setDaemon(true);
    guard.start();
  }
}
