// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

/** Says what a test wants it to say. */
final class FakeCores implements Cores {
  int available = 4;
  int online = 4;
  int running = 1;

  /** Whether the scheduler tells how long threads wait. */
  boolean tells = true;

  long ranNs;
  long waitedNs;

  /** How often the processors were counted. */
  int counted;

  /** How often the times were read. */
  int read;

  @Override
  public int available() {
    counted++;
    return available;
  }

  @Override
  public int online() {
    return online;
  }

  @Override
  public int running() {
    return running;
  }

  @Override
  public boolean runTimes(long[] times) {
    read++;
    if (tells) {
      times[0] = ranNs;
      times[1] = waitedNs;
    }
    return tells;
  }
}
