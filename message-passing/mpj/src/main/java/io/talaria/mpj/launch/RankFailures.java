// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.FailureControl;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;

/**
 * A rank's side of what {@link Survivors} does, in lines of the control link.
 *
 * <pre>
 *   revoke ID RANKS            | revoked ID
 *   agree ID NUMBER RANKS VALUES | agreed ID NUMBER RANKS VALUES     ranks that had ended; «-» for none
 *                              | ended RANK WHY
 * </pre>
 */
final class RankFailures implements FailureControl {
  private static final String NONE = "-";

  private final Consumer<String> tell;

  // All guarded by this.
  private final Map<String, CompletableFuture<Agreement>> open = new HashMap<>();
  private final Map<Integer, Integer> agreements = new HashMap<>();
  private final List<Integer> revoked = new ArrayList<>();
  private final List<String> endedBefore = new ArrayList<>();
  private IntConsumer onRevoked;
  private Engine engine;

  /**
   * For a rank.
   *
   * @param tell sends a line to the launcher
   */
  RankFailures(Consumer<String> tell) {
    this.tell = tell;
  }

  /** From now on this engine is told who has ended. */
  void opened(Engine opened) {
    List<String> before;
    synchronized (this) {
      engine = opened;
      before = List.copyOf(endedBefore);
    }
    for (String line : before) {
      ended(opened, line);
    }
  }

  /** Takes a line of the launcher's; whether it was for this. */
  boolean heard(String line) {
    String[] words = line.split(" ", 3);
    switch (words[0]) {
      case "ended" -> {
        Engine told;
        synchronized (this) {
          told = engine;
          if (told == null) {
            endedBefore.add(line);
          }
        }
        if (told != null) {
          ended(told, line);
        }
      }
      case "revoked" -> {
        int id = Integer.parseInt(words[1]);
        IntConsumer action;
        synchronized (this) {
          revoked.add(id);
          action = onRevoked;
        }
        if (action != null) {
          action.accept(id);
        }
      }
      case "agreed" -> agreed(line);
      default -> {
        return false;
      }
    }
    return true;
  }

  private static void ended(Engine told, String line) {
    String[] words = line.split(" ", 3);
    told.ended(Integer.parseInt(words[1]), words[2]);
  }

  private void agreed(String line) {
    String[] words = line.split(" ");
    CompletableFuture<Agreement> result;
    synchronized (this) {
      result = open.remove(words[1] + " " + words[2]);
    }
    if (result != null) {
      result.complete(new Agreement(longs(words[4]), ints(words[3])));
    }
  }

  @Override
  public void onRevoked(IntConsumer action) {
    List<Integer> before;
    synchronized (this) {
      onRevoked = action;
      before = List.copyOf(revoked);
    }
    before.forEach(action::accept);
  }

  @Override
  public void revoke(int id, int[] members) {
    tell.accept("revoke " + id + " " + words(members));
  }

  @Override
  public CompletableFuture<Agreement> agree(int id, int[] members, long[] values) {
    CompletableFuture<Agreement> result = new CompletableFuture<>();
    String key;
    synchronized (this) {
      key = id + " " + agreements.merge(id, 1, Integer::sum);
      open.put(key, result);
    }
    tell.accept("agree " + key + " " + words(members) + " " + words(values));
    return result;
  }

  // Lists as words.

  static String words(int[] numbers) {
    return numbers.length == 0
        ? NONE
        : Arrays.stream(numbers).mapToObj(Integer::toString).collect(Collectors.joining(","));
  }

  static int[] ints(String word) {
    return word.equals(NONE)
        ? new int[0]
        : Arrays.stream(word.split(",")).mapToInt(Integer::parseInt).toArray();
  }

  static String words(long[] numbers) {
    return Arrays.stream(numbers).mapToObj(Long::toHexString).collect(Collectors.joining(","));
  }

  static long[] longs(String word) {
    return Arrays.stream(word.split(",")).mapToLong(n -> Long.parseUnsignedLong(n, 16)).toArray();
  }
}
