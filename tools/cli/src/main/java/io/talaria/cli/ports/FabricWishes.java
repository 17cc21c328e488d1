// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.monitor.fabric.FabricOptions;
import picocli.CommandLine;

/** Makes the monitor's options of the user's. */
public final class FabricWishes {
  private FabricWishes() {}

  /** The options, with the usual ones where the user chose none. */
  public static FabricOptions of(FabricChoice choice, CommandLine command) {
    FabricChoice.Chosen chosen = choice.chosen(command);
    FabricOptions usual = FabricOptions.USUAL;
    return new FabricOptions(
        chosen.device(),
        Math.max(0, chosen.port()),
        or(chosen.timeoutMs(), usual.timeoutMs()),
        or(chosen.tries(), usual.tries()),
        or(chosen.maxHops(), usual.maxHops()),
        or(chosen.queries(), usual.queriesPerSecond()));
  }

  private static int or(int value, int usual) {
    return value < 0 ? usual : value;
  }
}
