// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

/** Says what a test wants it to say. */
final class FakeCores implements Cores {
  int available = 4;
  int running = 1;

  /** Whether the scheduler tells how long threads wait. */
  boolean tells = true;

  long ranNs;
  long waitedNs;
  int counted;
  int opened;

  @Override
  public int available() {
    counted++;
    return available;
  }

  @Override
  public int running() {
    return running;
  }

  @Override
  public RunTimes runTimes() {
    opened++;
    return tells ? new Told() : null;
  }

  private final class Told implements RunTimes {
    private long ran = FakeCores.this.ranNs;
    private long waited = FakeCores.this.waitedNs;

    @Override
    public boolean read() {
      ran = FakeCores.this.ranNs;
      waited = FakeCores.this.waitedNs;
      return tells;
    }

    @Override
    public long ranNs() {
      return ran;
    }

    @Override
    public long waitedNs() {
      return waited;
    }
  }
}
