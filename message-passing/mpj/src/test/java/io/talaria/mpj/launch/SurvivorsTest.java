// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.mpj.engine.FailureControl.Agreement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Both sides of the lines by which ranks that are left agree, without processes. */
class SurvivorsTest {
  private final List<RankFailures> ranks = new ArrayList<>();
  private final List<List<Integer>> revoked = new ArrayList<>();
  private Survivors survivors;

  private void job(int size) {
    ranks.clear();
    revoked.clear();
    survivors =
        new Survivors(size, (rank, line) -> assertThat(ranks.get(rank).heard(line)).isTrue());
    for (int i = 0; i < size; i++) {
      int rank = i;
      RankFailures failures =
          new RankFailures(line -> assertThat(survivors.said(rank, line)).isTrue());
      List<Integer> ids = new ArrayList<>();
      failures.onRevoked(ids::add);
      ranks.add(failures);
      revoked.add(ids);
    }
  }

  @Test
  void linesOfOthersAreNotTaken() {
    job(1);
    assertThat(survivors.said(0, "progress 3")).isFalse();
    assertThat(ranks.get(0).heard("go")).isFalse();
  }

  @Test
  void revocationsReachTheMembersOnce() {
    job(4);
    int[] low = {0, 1};
    int[] high = {2, 3};
    ranks.get(0).revoke(5, low);
    ranks.get(1).revoke(5, low);
    assertThat(revoked).containsExactly(List.of(5), List.of(5), List.of(), List.of());
    // Another communicator, whose ranks have the same id for it.
    ranks.get(3).revoke(5, high);
    assertThat(revoked.get(2)).containsExactly(5);
    List<Integer> late = new ArrayList<>();
    ranks.get(2).onRevoked(late::add);
    assertThat(late).containsExactly(5);
  }

  /** Ranks bring their values and end in every order; all that are left get the same. */
  @Test
  void allThatAreLeftGetTheSameResult() {
    for (int seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      int size = 2 + random.nextInt(5);
      job(size);
      int[] members = new int[size];
      Arrays.setAll(members, i -> i);
      List<Integer> order = new ArrayList<>();
      boolean[] ends = new boolean[size];
      for (int i = 0; i < size; i++) {
        order.add(i);
        ends[i] = i > 0 && random.nextInt(3) == 0;
      }
      Collections.shuffle(order, random);
      int last = order.get(size - 1);
      boolean lastBrings = !ends[last] || random.nextBoolean();
      long[][] values = new long[size][];
      List<CompletableFuture<Agreement>> results = new ArrayList<>();
      long[] expected = {-1, -1};
      for (int rank : order) {
        values[rank] = new long[] {random.nextLong(), ~(1L << rank)};
        boolean brings = rank == last ? lastBrings : !ends[rank] || random.nextBoolean();
        if (brings) {
          results.add(ranks.get(rank).agree(7, members, values[rank]));
          expected[0] &= values[rank][0];
          expected[1] &= values[rank][1];
        }
        if (ends[rank]) {
          survivors.ended(rank, "on purpose");
        }
      }
      // With what the last one brings all is settled, though it ends then.
      ends[last] &= !lastBrings;
      int[] gone = order.stream().filter(i -> ends[i]).mapToInt(i -> i).sorted().toArray();
      for (CompletableFuture<Agreement> result : results) {
        assertThat(result).as("seed %s", seed).isCompleted();
        assertThat(result.join().values()).as("seed %s", seed).isEqualTo(expected);
        assertThat(result.join().gone()).as("seed %s", seed).isEqualTo(gone);
      }
    }
  }

  @Test
  void anAgreementWaitsForThoseThatHaveNotEnded() {
    job(3);
    int[] members = {0, 1, 2};
    CompletableFuture<Agreement> first = ranks.get(0).agree(3, members, new long[] {6});
    CompletableFuture<Agreement> second = ranks.get(1).agree(3, members, new long[] {3});
    assertThat(first).isNotDone();
    survivors.ended(2, "killed");
    assertThat(first.join().values()).containsExactly(2);
    assertThat(second.join().gone()).containsExactly(2);
    // The next one of the same communicator.
    CompletableFuture<Agreement> next = ranks.get(0).agree(3, members, new long[] {1});
    assertThat(next).isNotDone();
    assertThat(ranks.get(1).agree(3, members, new long[] {1})).isCompleted();
    assertThat(next).isCompleted();
  }
}
