// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.chaos;

import io.talaria.it.harness.Lab;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs one program after the other, each from the next seed, and tells of all that failed. */
public final class StressRun {
  private static final String SECONDS = "TALARIA_STRESS_SECONDS";
  private static final String SEED = "TALARIA_STRESS_SEED";
  private static final String SOCKETS = "TALARIA_CHAOS_SOCKETS";
  private static final Duration EACH = Duration.ofSeconds(5);

  private final Lab lab;
  private final Duration duration;
  private final long seed;
  private final boolean plain;

  /**
   * Makes a run.
   *
   * @param lab where its processes live
   * @param duration how long it begins new programs, at least one
   * @param seed of the first program; each next one has the next number
   * @param plain whether the processes use the JDK's sockets: shows that the test is right
   */
  public StressRun(Lab lab, Duration duration, long seed, boolean plain) {
    this.lab = lab;
    this.duration = duration;
    this.seed = seed;
    this.plain = plain;
  }

  /**
   * Reads from the environment, which passes through Maven, how long it is to be and which seed
   * begins it.
   *
   * @param lab where its processes live
   * @return 20 seconds and any seed, unless the environment says otherwise
   */
  public static StressRun fromEnvironment(Lab lab) {
    Map<String, String> given = System.getenv();
    return new StressRun(
        lab,
        Duration.ofSeconds(Long.parseLong(given.getOrDefault(SECONDS, "20"))),
        given.containsKey(SEED) ? Long.parseLong(given.get(SEED)) : anySeed(),
        given.getOrDefault(SOCKETS, "talaria").equals("jdk"));
  }

  /**
   * A seed that nobody has chosen.
   *
   * @return the seed
   */
  public static long anySeed() {
    return System.nanoTime() & 0xffff_ffffL;
  }

  /**
   * Runs the programs.
   *
   * @throws Exception if one failed: with the seeds of all that did
   */
  public void run() throws Exception {
    List<String> failures = new ArrayList<>();
    long endNs = System.nanoTime() + duration.toNanos();
    long acceleratedBytes = 0;
    int programs = 0;
    int blocked = 0;
    do {
      Stress program = new Stress(lab, seed + programs, plain);
      try {
        acceleratedBytes += program.run(EACH);
      } catch (AssertionError failure) {
        if (program.queueBlocked()) {
          blocked++;
          System.out.println("stress: UCX's queue is blocked by a kill: " + failure.getMessage());
        } else {
          failures.add(failure.getMessage());
          System.out.println("stress: FAILED: " + failure.getMessage());
        }
        program.kill();
      }
      programs++;
    } while (System.nanoTime() < endNs || programs == blocked);
    String summary =
        programs
            + " programs, "
            + failures.size()
            + " failed"
            + (blocked == 0 ? "" : ", " + blocked + " ended by blocked queues");
    System.out.println("stress: " + summary + ", " + acceleratedBytes + " bytes by transports");
    if (!failures.isEmpty()) {
      throw new AssertionError(summary + "\n" + String.join("\n\n", failures));
    }
    if (!plain && acceleratedBytes == 0) {
      throw new AssertionError("no byte has travelled by a transport");
    }
  }
}
