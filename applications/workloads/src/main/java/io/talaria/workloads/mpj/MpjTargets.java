// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import static io.talaria.workloads.mpj.MpjImplementation.EXPRESS;
import static io.talaria.workloads.mpj.MpjImplementation.EXPRESS_NIO;
import static io.talaria.workloads.mpj.MpjImplementation.NIO;
import static io.talaria.workloads.mpj.MpjImplementation.NIO_AGENT;
import static io.talaria.workloads.mpj.MpjImplementation.OMPI_UCX;
import static io.talaria.workloads.mpj.MpjImplementation.OPEN_MPI;
import static io.talaria.workloads.mpj.MpjImplementation.SHM;
import static io.talaria.workloads.mpj.MpjImplementation.SOCKETS;
import static io.talaria.workloads.mpj.MpjImplementation.UCX;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.harness.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What message passing must reach between two processes on a core each: ratios of ours to theirs,
 * of times at most, of rates at least. Each ratio is a measure of its own. Used by one thread.
 *
 * <p>What is done in blocks is compared by its fastest blocks: other virtual machines on the same
 * processor slow down some blocks of one implementation and not of the other, by a factor of up to
 * five, and no block is faster by accident.
 */
final class MpjTargets {
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;
  private static final int ANY = Integer.MAX_VALUE;

  /** No limit. */
  private static final double SHOWN = Double.NaN;

  /** The class of problem that is judged. */
  private static final char KERNELS = 'A';

  /**
   * One line of the table of targets.
   *
   * @param pattern what is done
   * @param least the smallest size, in bytes
   * @param most the largest
   * @param ours who of ours
   * @param theirs held against the better of these
   * @param limit what the ratio must reach; {@link #SHOWN} if it is only shown
   */
  private record Rule(
      MpjPattern pattern,
      int least,
      int most,
      MpjImplementation ours,
      List<MpjImplementation> theirs,
      double limit) {

    private boolean covers(MpjJob job, int bytes) {
      return job.ranks() == 2
          && job.pattern() == pattern
          && bytes >= least
          && bytes <= most
          && (pattern.kernel() == null || job.problem() == KERNELS);
    }
  }

  /** docs/mpj.md has them as a table. */
  private static final List<Rule> RULES = rules();

  private final Comparison found;
  private final List<Judged> judged = new ArrayList<>();

  /**
   * A ratio.
   *
   * @param label what was measured
   * @param ours who of ours
   * @param theirs against whom
   * @param ratio of the iterations
   * @param target what it must be, and whether it is; null if it is not judged
   */
  record Judged(
      String label,
      MpjImplementation ours,
      MpjImplementation theirs,
      Spread ratio,
      Target target) {}

  /**
   * Creates the judge.
   *
   * @param found what was found, and where ratios go
   */
  MpjTargets(Comparison found) {
    this.found = found;
  }

  private static List<Rule> rules() {
    List<Rule> all = new ArrayList<>();
    all.add(new Rule(MpjPattern.HALF, 0, KIB, SHM, OPEN_MPI, 1.25));
    all.add(new Rule(MpjPattern.HALF, 4 * KIB, MIB, SHM, OPEN_MPI, 0.9));
    all.add(new Rule(MpjPattern.HALF, 4 * MIB, ANY, SHM, OPEN_MPI, 1.1));
    all.add(new Rule(MpjPattern.RATE, 0, 8, SHM, OPEN_MPI, 0.7));
    all.add(new Rule(MpjPattern.RATE, KIB, KIB, SHM, OPEN_MPI, 1.0));
    for (MpjPattern pattern : large()) {
      all.add(new Rule(pattern, 64 * KIB, 4 * MIB, SHM, OPEN_MPI, 1.0));
      double limit = pattern == MpjPattern.SEGMENTS ? 0.9 : 0.7;
      all.add(new Rule(pattern, 64 * KIB, 4 * MIB, UCX, List.of(OMPI_UCX), limit));
    }
    for (MpjPattern pattern :
        List.of(
            MpjPattern.BARRIER,
            MpjPattern.BCAST,
            MpjPattern.ALLREDUCE,
            MpjPattern.REDUCE_SCATTER)) {
      all.add(new Rule(pattern, 0, 8, SHM, OPEN_MPI, 1.5));
    }
    for (MpjPattern pattern :
        List.of(
            MpjPattern.BCAST,
            MpjPattern.ALLREDUCE,
            MpjPattern.ALLGATHER,
            MpjPattern.ALLTOALL,
            MpjPattern.REDUCE_SCATTER)) {
      all.add(new Rule(pattern, 8 * KIB, MIB, SHM, OPEN_MPI, 1.1));
    }
    all.add(new Rule(MpjPattern.HALF, 8, 8, UCX, List.of(OMPI_UCX), 1.6));
    all.add(new Rule(MpjPattern.RATE, 0, KIB, UCX, List.of(OMPI_UCX), 0.6));
    all.add(new Rule(MpjPattern.HALF, 8, 8, NIO, List.of(SOCKETS), 1.3));
    all.add(new Rule(MpjPattern.HALF, 8, 8, NIO_AGENT, List.of(SOCKETS), 0.2));
    for (MpjPattern pattern : MpjPattern.values()) {
      if (pattern.kernel() != null) {
        double limit = pattern.more() ? 0.97 : 1 / 0.97;
        all.add(new Rule(pattern, 0, ANY, SHM, List.of(EXPRESS), limit));
        all.add(new Rule(pattern, 0, ANY, SHM, OPEN_MPI, SHOWN));
      }
    }
    all.addAll(express(SHM, EXPRESS, 0.1, 1.0));
    all.addAll(express(NIO, EXPRESS_NIO, 0.5, 0.9));
    return List.copyOf(all);
  }

  private static List<MpjPattern> large() {
    return List.of(MpjPattern.BYTES, MpjPattern.DOUBLES, MpjPattern.SEGMENTS);
  }

  /** Times of messages and collectives: small messages, and all else. */
  private static List<Rule> express(
      MpjImplementation ours, MpjImplementation theirs, double small, double other) {
    List<Rule> all = new ArrayList<>();
    for (MpjPattern pattern : MpjPattern.usual()) {
      if (pattern.quantity() == Quantity.TIME) {
        int split = pattern == MpjPattern.HALF ? KIB : -1;
        if (split > 0) {
          all.add(new Rule(pattern, 0, split, ours, List.of(theirs), small));
        }
        all.add(new Rule(pattern, split + 1, ANY, ours, List.of(theirs), other));
      }
    }
    return all;
  }

  /**
   * Adds the ratios to what was found.
   *
   * @param cases what was measured
   * @param judging whether they are targets, too; not on a busy host, or one with one core
   */
  void judge(List<MpjCase> cases, boolean judging) {
    for (MpjCase benchmarkCase : cases) {
      for (int bytes : benchmarkCase.job().sizes()) {
        RULES.stream()
            .filter(rule -> rule.covers(benchmarkCase.job(), bytes))
            .forEach(rule -> judge(rule, benchmarkCase, bytes, judging));
      }
    }
  }

  private void judge(Rule rule, MpjCase benchmarkCase, int bytes, boolean judging) {
    if (!judge(rule, benchmarkCase, bytes, benchmarkCase.fastestId(bytes), judging)) {
      judge(rule, benchmarkCase, bytes, benchmarkCase.id(bytes), judging);
    }
  }

  /** Judges by one measure; false if one of the sides has no figure of it. */
  private boolean judge(Rule rule, MpjCase benchmarkCase, int bytes, String id, boolean judging) {
    boolean more = rule.pattern.more();
    MpjImplementation theirs = better(id, rule.theirs, more);
    if (theirs == null || found.spread(id, rule.ours) == null) {
      return false;
    }
    String ratioId = benchmarkCase.id(bytes) + "/" + rule.ours + ":" + theirs;
    String label = benchmarkCase.label(bytes);
    for (double ratio : found.ratios(id, rule.ours, theirs)) {
      found.add(
          ratioId, label + ", " + rule.ours + " : " + theirs, Quantity.TIMES, rule.ours, ratio);
    }
    Spread spread = found.spread(ratioId, rule.ours);
    boolean limited = judging && !Double.isNaN(rule.limit);
    Target target = limited ? target(more, rule.limit, spread.median()) : null;
    found.judge(ratioId, target);
    judged.add(new Judged(label, rule.ours, theirs, spread, target));
    return true;
  }

  private static Target target(boolean more, double limit, double reached) {
    String wanted = String.format(Locale.ROOT, "%s %.2f×", more ? "≥" : "≤", limit);
    return new Target(wanted, reached, more ? reached >= limit : reached <= limit);
  }

  /** Returns who of them has the better median; null if none has a figure. */
  private MpjImplementation better(String id, List<MpjImplementation> some, boolean more) {
    MpjImplementation best = null;
    for (MpjImplementation one : some) {
      Spread spread = found.spread(id, one);
      if (spread != null) {
        double median = spread.median();
        double before = best == null ? median : found.spread(id, best).median();
        if (best == null || (more ? median > before : median < before)) {
          best = one;
        }
      }
    }
    return best;
  }

  /** Returns the ratios, in the order of the measures. */
  List<Judged> judged() {
    return List.copyOf(judged);
  }
}
