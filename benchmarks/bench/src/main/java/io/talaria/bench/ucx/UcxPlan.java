// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Turns what the user asks for into cases. */
final class UcxPlan {
  private static final List<Integer> USUAL =
      List.of(8, 16, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20);
  private static final List<Integer> QUICK = List.of(Case.JUDGED_BYTES, 64 << 10);
  private static final List<Integer> ATOMIC = List.of(Integer.BYTES, Long.BYTES);

  private UcxPlan() {}

  /**
   * Reads operations.
   *
   * @param words names of operations, {@code atomics} or {@code all}; none for the usual ones
   * @throws IllegalArgumentException if there is none of a name
   */
  static Set<Operation> operations(List<String> words) {
    Set<Operation> operations = EnumSet.noneOf(Operation.class);
    for (String word : words) {
      if (word.equals("all")) {
        operations.addAll(EnumSet.allOf(Operation.class));
      } else if (word.equals("atomics")) {
        EnumSet.allOf(Operation.class).stream()
            .filter(Operation::isAtomic)
            .forEach(operations::add);
      } else {
        operations.add(Operation.of(word));
      }
    }
    return words.isEmpty()
        ? EnumSet.of(Operation.TAG, Operation.STREAM, Operation.PUT)
        : operations;
  }

  /**
   * Makes the cases.
   *
   * @param operations what
   * @param kinds what of it; none for all
   * @param sizes in bytes; none for the usual ones. Atomics have 4 and 8 bytes in any case
   * @param quick whether few sizes are enough
   */
  static List<Case> cases(
      Collection<Operation> operations,
      List<Kind> kinds,
      List<Integer> sizes,
      int threads,
      boolean quick) {
    List<Integer> wanted = sizes.isEmpty() ? quick ? QUICK : USUAL : sizes;
    List<Case> cases = new ArrayList<>();
    for (Kind kind : kinds.isEmpty() ? List.of(Kind.values()) : kinds) {
      for (Operation operation : operations) {
        for (int size : operation.isAtomic() ? ATOMIC : wanted) {
          cases.add(new Case(operation, kind, size, threads));
        }
      }
    }
    return cases.stream().distinct().toList(); // the user may name a size twice
  }
}
