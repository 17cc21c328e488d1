// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import io.talaria.mpj.device.ring.RingDevice;
import io.talaria.mpj.device.ring.ThreadHub;

/** A program started without a launcher: one rank. */
final class SingleJob implements Job {
  @Override
  public int rank() {
    return 0;
  }

  @Override
  public int size() {
    return 1;
  }

  @Override
  public Engine open() {
    Settings settings = Settings.of(System.getProperties());
    return new Engine(
        new RingDevice(
            new ThreadHub(1).area(),
            0,
            1,
            settings.ringBytes(1),
            settings.eagerBytes(),
            settings.creditBytes()),
        Waiting.ASLEEP);
  }

  @Override
  public void finish(Engine engine) {}

  @Override
  public void abort(int status, String why) {
    System.err.println("talaria mpirun: " + why);
    Runtime.getRuntime().halt(status);
  }
}
