// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Optional;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Where the suite runs: on the loopback provider, or, with {@code -Dtalaria.verbs.variant=device},
 * on the first device of this host. An assertion holds on both.
 */
final class Variant implements BeforeAllCallback {
  private static final boolean DEVICE =
      "device".equals(System.getProperty("talaria.verbs.variant"));

  /** On an emulated machine a call takes milliseconds. */
  private static final long LIMIT_NS = 60_000_000_000L;

  /** Whether it is a device, soft-RoCE for example. */
  static boolean isDevice() {
    return DEVICE;
  }

  /** Why nothing can run here. */
  static Optional<String> unavailableReason() {
    return DEVICE ? Verbs.unavailableReason() : Loopback.prepare();
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    Optional<String> unavailableReason = unavailableReason();
    if (DEVICE) {
      assertThat(unavailableReason).isEmpty();
    }
    assumeTrue(unavailableReason.isEmpty(), () -> unavailableReason.orElseThrow());
  }

  static Context open() {
    try (DeviceList devices = DeviceList.open()) {
      return devices.first().open();
    }
  }

  static Path path(Context context) {
    int gid = context.preferredGid(1).orElseThrow().index();
    return Path.by(1, gid).withReads(4, 4);
  }

  /** Polls until there is a completion. */
  static int completions(CompletionQueue queue, Completions into) {
    long end = System.nanoTime() + LIMIT_NS;
    int count;
    while ((count = queue.poll(into)) == 0) {
      if (System.nanoTime() > end) {
        throw new AssertionError("no completion came");
      }
      Thread.onSpinWait();
    }
    assertThat(count).isPositive();
    return count;
  }

  /** Polls until there is something, which must be one and must have succeeded. */
  static void success(CompletionQueue queue, Completions into, long id) {
    assertThat(completions(queue, into)).isEqualTo(1);
    assertThat(into.status(0)).as(() -> Status.text(into.status(0))).isEqualTo(Status.SUCCESS);
    assertThat(into.id(0)).isEqualTo(id);
  }
}
