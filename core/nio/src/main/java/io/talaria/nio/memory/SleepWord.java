// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.memory;

import java.lang.invoke.VarHandle;

/**
 * Sleep and wake-up by a word in which the sleeper publishes an epoch: what all rings with such a
 * word have in common, and the proof that no wake-up is lost. Any thread; no method blocks or
 * allocates.
 *
 * <pre>
 *   sleeper                                    waker
 *     word = a new epoch                         publish what the sleeper waits for
 *     {@link #publishBeforeLook}                        {@link #publishBeforeLook}
 *     look for it                                look at the word
 *     nothing: sleep until the doorbell          an epoch not yet woken: doorbell
 *     word = awake
 * </pre>
 *
 * <p>Stores are releases or stronger, so that a thread that sees one sees what was written before
 * it. How the word is accessed, what it contains beside the epoch, and what the doorbell is, each
 * ring defines.
 *
 * <p><b>Invariant.</b> For each sleep and each publication that would end it, the sleeper's look
 * sees the publication, or the waker's look sees the epoch of that sleep, or a later value.
 *
 * <p><b>Argument.</b> Full fences have one order, on which all threads agree.
 *
 * <ul>
 *   <li>If the waker's fence comes first, the publication precedes it, and the sleeper's look
 *       follows the sleeper's fence: it sees the publication, and does not sleep.
 *   <li>If the sleeper's fence comes first, the epoch precedes it, and the waker's look follows the
 *       waker's fence: it sees the epoch and wakes the sleeper. If it sees a later value, that
 *       sleep is over, and the same argument holds for the next one.
 * </ul>
 *
 * <p>A release and an acquire do not replace the fence, on either side: a store may wait in the
 * core while later loads are executed, so that both looks see the old values, and the sleeper
 * sleeps for ever. {@code SleepWordStress} shows that for a fence left out on each side.
 *
 * <p><b>What the waker may remember.</b> It may omit the doorbell if it remembers, in its own
 * memory, that it has woken this epoch. Three rules make that safe:
 *
 * <ul>
 *   <li>Each sleep has an epoch of its own. If a sleep repeated the epoch of the one before, the
 *       waker would take it for woken. (Epochs of 32 bits repeat after 2^31 sleeps; that does harm
 *       only if the waker has woken none of them, and looks again at exactly that one.)
 *   <li>A doorbell is kept until the sleeper takes it, also if it comes before the sleep.
 *   <li>The sleeper takes doorbells before it looks, never between its look and its sleep: else it
 *       could take the only doorbell of the sleep that begins.
 * </ul>
 *
 * <p>A waker that remembers after the doorbell may send a second one for the same sleep, if other
 * threads wake as well; none is lost if it fails or stops before. A waker that claims the epoch
 * before the doorbell, by compare-and-set, sends only one; then it must not fail.
 */
public final class SleepWord {
  private SleepWord() {}

  /**
   * Call between the own publication and the look at what the other side publishes; both sides
   * must.
   */
  public static void publishBeforeLook() {
    VarHandle.fullFence();
  }

  // ---- epochs of words whose parity says whether the sleeper sleeps; others have their own

  /** Whether the sleeper of this epoch sleeps, or is about to. */
  public static boolean asleep(int epoch) {
    return (epoch & 1) != 0;
  }

  /** The epoch of the next sleep. */
  public static int asleepAfter(int epoch) {
    return epoch + 1 | 1;
  }

  /** The epoch of a sleeper that is awake: after that of a sleep a new one, else the same. */
  public static int awakeAfter(int epoch) {
    return epoch + 1 & ~1;
  }
}
