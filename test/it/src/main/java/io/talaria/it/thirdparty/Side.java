// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.thirdparty;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Blob;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Pattern;
import io.talaria.programs.Catalogue;
import io.talaria.programs.ThirdParty;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * One side of a {@link ThirdParty}. The server says {@code @listening}. The client opens its
 * connections, then all their threads send messages of many sizes at once and check each byte of
 * the answers; it says {@code @used}, and does it again if it is told to. Its connections stay
 * open.
 */
public final class Side {
  private Side() {}

  /**
   * Runs the program.
   *
   * @param arguments program= a constant of {@link Catalogue}, and for a client port, connections,
   *     rounds and seed
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          ThirdParty party = Catalogue.valueOf(args.text("program", "")).open();
          int port = args.count("port", 0);
          if (port == 0) {
            Path folder = Files.createDirectories(Path.of("server").toAbsolutePath());
            Console.say("listening", "port", party.serve(folder));
          } else {
            use(party, port, args);
          }
          Console.awaitEnd();
        });
  }

  private static void use(ThirdParty party, int port, Args args) throws Exception {
    List<ThirdParty.Guest> guests = new ArrayList<>();
    for (int i = 0; i < args.count("connections", 4); i++) {
      guests.add(party.connect(port));
    }
    int rounds = args.count("rounds", 100);
    List<Callable<Long>> threads = new ArrayList<>();
    for (ThirdParty.Guest guest : guests) {
      for (int i = 0; i < guest.threads(); i++) {
        long seed = args.number("seed", 0) + threads.size() * (long) rounds;
        threads.add(() -> exchange(guest, rounds, seed, party.maxBytes()));
      }
    }
    ExecutorService pool = Executors.newFixedThreadPool(threads.size());
    do {
      long bytes = 0;
      for (Future<Long> each : pool.invokeAll(threads)) {
        bytes += each.get();
      }
      Console.say("used", "threads", threads.size(), "bytes", bytes);
    } while (Console.command().equals("again"));
    pool.shutdown();
  }

  private static long exchange(ThirdParty.Guest guest, int rounds, long firstSeed, int maxBytes)
      throws Exception {
    long bytes = 0;
    for (long seed = firstSeed; seed < firstSeed + rounds; seed++) {
      int length = length(seed, maxBytes);
      Blob.check(guest.exchange(Blob.make(seed, length)), seed, length);
      bytes += length;
    }
    return bytes;
  }

  /** From a seed: as many of a hundred bytes as of a hundred thousand. */
  private static int length(long seed, int maxBytes) {
    double part = new java.util.SplittableRandom(seed).nextDouble();
    double length = Pattern.HEADER_BYTES * Math.pow((double) maxBytes / Pattern.HEADER_BYTES, part);
    return Math.min(maxBytes, (int) length);
  }
}
