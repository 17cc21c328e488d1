// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is made of figures: ratios, targets, tables. No rank is started. */
class MpjTargetsTest {
  private final List<MpjImplementation> all = List.of(MpjImplementation.values());
  private final Comparison found = new Comparison(all);
  private final List<MpjCase> cases = new ArrayList<>();
  private final MpjTargets targets = new MpjTargets(found);

  private MpjCase benchmarkCase(MpjPattern pattern, int ranks) {
    MpjJob job = new MpjJob(pattern, ranks, pattern.sizes(), 1, 1, 1, 'A');
    MpjCase benchmarkCase = new MpjCase(null, job, all);
    cases.add(benchmarkCase);
    return benchmarkCase;
  }

  private void figures(
      MpjCase benchmarkCase, int bytes, MpjImplementation implementation, double... iterations) {
    Quantity quantity = benchmarkCase.job().pattern().quantity();
    for (double figure : iterations) {
      found.add(
          benchmarkCase.id(bytes), benchmarkCase.label(bytes), quantity, implementation, figure);
    }
  }

  private MpjTargets.Judged judged(String label, MpjImplementation ours) {
    return targets.judged().stream()
        .filter(one -> one.label().equals(label) && one.ours() == ours)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void timesAreHeldAgainstTheBetterOfOpenMpiIterationByIteration() {
    MpjCase half = benchmarkCase(MpjPattern.HALF, 2);
    figures(half, 8, MpjImplementation.SHM, 100, 300, 130);
    figures(half, 8, MpjImplementation.OMPI_OB1, 100, 300, 100);
    figures(half, 8, MpjImplementation.OMPI_UCX, 150, 450, 150);
    figures(half, 8, MpjImplementation.UCX, 240, 720, 250);
    targets.judge(cases, true);
    MpjTargets.Judged shm = judged("half round trip, 8 B", MpjImplementation.SHM);
    assertThat(shm.theirs()).isEqualTo(MpjImplementation.OMPI_OB1);
    assertThat(shm.ratio().median()).isEqualTo(1);
    assertThat(shm.ratio().max()).isEqualTo(1.3);
    assertThat(shm.target().wanted()).isEqualTo("≤ 1.25×");
    assertThat(shm.target().met()).isTrue();
    MpjTargets.Judged ucx = judged("half round trip, 8 B", MpjImplementation.UCX);
    assertThat(ucx.theirs()).isEqualTo(MpjImplementation.OMPI_UCX);
    assertThat(ucx.ratio().median()).isEqualTo(1.6);
    assertThat(ucx.target().met()).isTrue();
    assertThat(found.values("half/8/shm:ompi-ob1", MpjImplementation.SHM))
        .containsExactly(1., 1., 1.3);
    assertThat(found.judged()).isEqualTo(2);
    assertThat(found.missed()).isZero();
  }

  @Test
  void whatIsDoneInBlocksIsComparedByTheFastestOfBothSides() {
    MpjCase half = benchmarkCase(MpjPattern.HALF, 2);
    for (int bytes : List.of(8, 64)) {
      figures(half, bytes, MpjImplementation.SHM, 400, 130);
      figures(half, bytes, MpjImplementation.OMPI_OB1, 100, 100);
      fastest(half, bytes, MpjImplementation.SHM, 90, 110);
    }
    fastest(half, 8, MpjImplementation.OMPI_OB1, 100, 100);
    targets.judge(cases, true);
    MpjTargets.Judged both = judged(half.label(8), MpjImplementation.SHM);
    assertThat(both.ratio()).isEqualTo(new Spread(1, 0.9, 1.1, 2));
    assertThat(both.target().met()).isTrue();
    MpjTargets.Judged one = judged(half.label(64), MpjImplementation.SHM);
    assertThat(one.ratio().max()).isEqualTo(4);
    assertThat(one.target().met()).isFalse();
    Machine machine = Machine.describe("7", Pinning.decide(false));
    String text = new MpjReport(machine, found, cases, all, Map.of(), targets).text();
    assertThat(text.lines())
        .anyMatch(line -> line.matches("\\s*fastest block\\s+0\\.10\\s+0\\.10\\s*"))
        .anyMatch(line -> line.matches("\\s*fastest block\\s+0\\.10\\s*"));
  }

  private void fastest(
      MpjCase half, int bytes, MpjImplementation implementation, double... iterations) {
    for (double figure : iterations) {
      found.add(half.fastestId(bytes), "fastest", Quantity.TIME, implementation, figure);
    }
  }

  @Test
  void ratesMustBeAtLeastAsHigh() {
    MpjCase bytes = benchmarkCase(MpjPattern.BYTES, 2);
    figures(bytes, 1 << 20, MpjImplementation.SHM, 9);
    figures(bytes, 1 << 20, MpjImplementation.UCX, 7);
    figures(bytes, 1 << 20, MpjImplementation.OMPI_OB1, 8);
    figures(bytes, 1 << 20, MpjImplementation.OMPI_UCX, 10);
    targets.judge(cases, true);
    MpjTargets.Judged shm = judged("byte arrays, 64 in flight, 1 MiB", MpjImplementation.SHM);
    assertThat(shm.theirs()).isEqualTo(MpjImplementation.OMPI_UCX);
    assertThat(shm.target().wanted()).isEqualTo("≥ 1.00×");
    assertThat(shm.target().met()).isFalse();
    MpjTargets.Judged ucx = judged("byte arrays, 64 in flight, 1 MiB", MpjImplementation.UCX);
    assertThat(ucx.target().wanted()).isEqualTo("≥ 0.70×");
    assertThat(ucx.target().met()).isTrue();
    assertThat(found.missed()).isEqualTo(1);
  }

  @Test
  void smallMessagesMustBeFarFasterThanMpjExpressOthersFaster() {
    MpjCase half = benchmarkCase(MpjPattern.HALF, 2);
    MpjCase objects = benchmarkCase(MpjPattern.OBJECTS, 2);
    for (MpjCase benchmarkCase : cases) {
      for (int bytes : benchmarkCase.job().sizes()) {
        figures(benchmarkCase, bytes, MpjImplementation.SHM, 50);
        figures(benchmarkCase, bytes, MpjImplementation.EXPRESS, 100);
        figures(benchmarkCase, bytes, MpjImplementation.NIO, 50);
        figures(benchmarkCase, bytes, MpjImplementation.EXPRESS_NIO, 100);
      }
    }
    targets.judge(cases, true);
    assertThat(judged(half.label(1 << 10), MpjImplementation.SHM).target().wanted())
        .isEqualTo("≤ 0.10×");
    assertThat(judged(half.label(4 << 10), MpjImplementation.SHM).target().wanted())
        .isEqualTo("≤ 1.00×");
    assertThat(judged(objects.label(8), MpjImplementation.SHM).target().wanted())
        .isEqualTo("≤ 1.00×");
    assertThat(judged(half.label(8), MpjImplementation.NIO).target().wanted()).isEqualTo("≤ 0.50×");
    assertThat(judged(half.label(16 << 20), MpjImplementation.NIO).target().wanted())
        .isEqualTo("≤ 0.90×");
  }

  @Test
  void kernelsMustNearlyKeepUpWithMpjExpress() {
    MpjCase ft = benchmarkCase(MpjPattern.FT, 2);
    MpjCase fdtd = benchmarkCase(MpjPattern.FDTD, 2);
    figures(ft, 0, MpjImplementation.SHM, 960e6);
    figures(ft, 0, MpjImplementation.EXPRESS, 1000e6);
    figures(fdtd, 0, MpjImplementation.SHM, 103e6);
    figures(fdtd, 0, MpjImplementation.EXPRESS, 100e6);
    targets.judge(cases, true);
    assertThat(ft.id(0)).isEqualTo("ft/A");
    assertThat(judged("FT, class A", MpjImplementation.SHM).target().wanted()).isEqualTo("≥ 0.97×");
    assertThat(judged("FT, class A", MpjImplementation.SHM).target().met()).isFalse();
    assertThat(judged("FDTD, class A", MpjImplementation.SHM).target().wanted())
        .isEqualTo("≤ 1.03×");
    assertThat(judged("FDTD, class A", MpjImplementation.SHM).target().met()).isTrue();
    assertThat(MpjPattern.FT.shown(960e6) + " " + MpjPattern.FT.unit()).isEqualTo("960.0 MOPS");
    assertThat(MpjPattern.FDTD.shown(103e6) + " " + MpjPattern.FDTD.unit()).isEqualTo("103.0 ms");
  }

  @Test
  void kernelsInCAreShownBesideOursAndNotJudged() {
    MpjCase mg = benchmarkCase(MpjPattern.MG, 2);
    figures(mg, 0, MpjImplementation.SHM, 800e6);
    figures(mg, 0, MpjImplementation.OMPI_OB1, 900e6);
    figures(mg, 0, MpjImplementation.OMPI_UCX, 1000e6);
    MpjCase fdtd = benchmarkCase(MpjPattern.FDTD, 2);
    figures(fdtd, 0, MpjImplementation.SHM, 90e6);
    figures(fdtd, 0, MpjImplementation.OMPI_OB1, 100e6);
    figures(fdtd, 0, MpjImplementation.OMPI_UCX, 120e6);
    found.add(mg.communicationId(), "", Quantity.PERCENT, MpjImplementation.SHM, 12.5);
    targets.judge(cases, true);
    MpjTargets.Judged shm = judged("MG, class A", MpjImplementation.SHM);
    assertThat(shm.theirs()).isEqualTo(MpjImplementation.OMPI_UCX);
    assertThat(shm.ratio().median()).isEqualTo(0.8);
    assertThat(shm.target()).isNull();
    MpjTargets.Judged time = judged("FDTD, class A", MpjImplementation.SHM);
    assertThat(time.theirs()).isEqualTo(MpjImplementation.OMPI_OB1);
    assertThat(time.ratio().median()).isEqualTo(0.9);
    assertThat(time.target()).isNull();
    assertThat(found.judged()).isZero();
    assertThat(mg.communicationId()).isEqualTo("mg/A/communication");
    Machine machine = Machine.describe("7", Pinning.decide(false));
    String text = new MpjReport(machine, found, cases, all, Map.of(), targets).text();
    assertThat(text.lines()).anyMatch(line -> line.matches("messages, %\\s+12\\.5\\s*"));
  }

  @Test
  void moreRanksThanTwoAndABusyHostAreNotJudged() {
    MpjCase two = benchmarkCase(MpjPattern.BARRIER, 2);
    MpjCase four = benchmarkCase(MpjPattern.BARRIER, 4);
    for (MpjCase benchmarkCase : cases) {
      figures(benchmarkCase, 0, MpjImplementation.SHM, 50);
      figures(benchmarkCase, 0, MpjImplementation.OMPI_OB1, 100);
    }
    targets.judge(cases, false);
    assertThat(targets.judged()).hasSize(1);
    assertThat(judged(two.label(0), MpjImplementation.SHM).target()).isNull();
    assertThat(found.judged()).isZero();
    assertThat(four.id(0)).isEqualTo("barrier/4-ranks");
    assertThat(four.label(0)).isEqualTo("Barrier, 4 ranks");
  }

  @Test
  void anIterationThatOneOfThemLacksLeavesTheMedians() {
    MpjCase half = benchmarkCase(MpjPattern.HALF, 2);
    figures(half, 8, MpjImplementation.SHM, 2, 4, 3);
    figures(half, 8, MpjImplementation.OMPI_OB1, 1);
    targets.judge(cases, true);
    assertThat(judged("half round trip, 8 B", MpjImplementation.SHM).ratio())
        .isEqualTo(new Spread(3, 3, 3, 1));
  }

  @Test
  void whoIsNotHereIsNamedAndItsColumnIsEmpty() {
    MpjCase half = benchmarkCase(MpjPattern.HALF, 2);
    figures(half, 8, MpjImplementation.SHM, 100, 120);
    Map<MpjImplementation, String> absent = new EnumMap<>(MpjImplementation.class);
    absent.put(MpjImplementation.MPICH, "mpicc.mpich is not installed: install mpich");
    targets.judge(cases, true);
    Machine machine = Machine.describe("7", Pinning.decide(false));
    String text = new MpjReport(machine, found, cases, all, absent, targets).text();
    assertThat(text)
        .contains("half round trip, µs (less is better)")
        .contains("without mpich: mpicc.mpich is not installed: install mpich\n")
        .doesNotContain("targets met");
    assertThat(text.lines().filter(line -> line.startsWith("8 B")).findFirst().orElseThrow())
        .matches("8 B\\s+0.11");
    assertThat(text.lines()).anyMatch(line -> line.strip().equals("0.10–0.12"));
  }

  @Test
  void figuresAreOfOneMessage() {
    assertThat(MpjPattern.HALF.figure(8, 100, 1_000)).isEqualTo(5);
    assertThat(MpjPattern.BCAST.figure(8, 100, 1_000)).isEqualTo(10);
    assertThat(MpjPattern.RATE.figure(8, 100, 1_000)).isEqualTo(6_400 * 1e6);
    assertThat(MpjPattern.BYTES.figure(1_000, 100, 1_000)).isEqualTo(6_400);
    assertThat(MpjPattern.HALF.count(1 << 10)).isEqualTo(10_000);
    assertThat(MpjPattern.BYTES.count(4 << 20)).isEqualTo(1);
    assertThat(MpjPattern.OVERLAP.figure(1 << 20, 200, 50)).isEqualTo(25);
    assertThat(MpjPattern.OVERLAP.more()).isTrue();
    assertThat(MpjPattern.OVERLAP.ranks(List.of(3, 4))).containsExactly(2);
  }

  @Test
  void figuresAreFoundAmongWhatLaunchersSay() throws Exception {
    MpjJob job = new MpjJob(MpjPattern.HALF, 2, List.of(8, 64), 1, 1, 1, 'A');
    String said =
        "MPJ Express (0.44) is started\nresult half 8 100 1000\nresult half 64 100 3000\nbye\n";
    assertThat(new MpjOutput(said).figures(job, 0)).isEqualTo(Map.of(8, 5., 64, 15.));
    assertThat(new MpjOutput(said).fastest(job)).isEmpty();
    assertThat(new MpjOutput("result half 8 30000 900000 200000\n").fastest(job))
        .isEqualTo(Map.of(8, 10.));
    MpjJob shorter = new MpjJob(MpjPattern.HALF, 2, List.of(8), 1, 1, 10, 'A');
    assertThat(new MpjOutput("result half 8 30000 900000 200000\n").fastest(shorter))
        .as("blocks of a tenth")
        .isEqualTo(Map.of(8, 100.));
    assertThat(new MpjOutput("result half 8 30000 900000 200000\n").figures(job, 0))
        .isEqualTo(Map.of(8, 15.));
    assertThat(job.arguments())
        .containsExactly("cases", "1.0", "1.0", "half", "8", "10000", "half", "64", "10000");
    MpjJob ft = new MpjJob(MpjPattern.FT, 2, List.of(0), 1, 1, 1, 'A');
    assertThat(ft.arguments()).containsExactly("A");
    assertThat(new MpjOutput("FT class A, 2 ranks: 1234.5 MOPS, 5.700 s, verified").figures(ft, 0))
        .isEqualTo(Map.of(0, 1234.5e6));
    assertThat(new MpjOutput("FT class A, 2 ranks: 1234.5 MOPS, 5.700 s, WRONG").figures(ft, 0))
        .isEmpty();
    assertThat(new MpjOutput("FT: 12.3 % of the time in communication\n").communication())
        .isEqualTo(12.3);
    assertThat(new MpjOutput("FT class A\n").communication()).isNaN();
    MpjJob memory = new MpjJob(MpjPattern.MEMORY, 2, List.of(0), 1, 1, 1, 'A');
    assertThat(new MpjOutput("memory 10\nmemory 30\n").figures(memory, 0))
        .isEqualTo(Map.of(0, 20. * 1024));
    assertThat(new MpjOutput("memory 10\n").figures(memory, 0)).isEmpty();
    new MpjOutput("transport 1 0 1 shm (same-host)\n").requireAccelerated();
    assertThatThrownBy(
            () -> new MpjOutput("transport 0 1 1 tcp (peer-not-accelerated)").requireAccelerated())
        .hasMessage("NOT ACCELERATED: 1 tcp (peer-not-accelerated)");
  }
}
