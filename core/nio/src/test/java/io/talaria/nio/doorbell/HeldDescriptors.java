// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * How many descriptors this process holds, by what they are open for; for tests that nothing is
 * left behind.
 *
 * <p>Those of doorbells are apart: they are kept, each for the next who needs one, so that a moment
 * in which one thread more sleeps than ever before adds {@link #OF_ONE_SLEEPER} for good.
 */
public record HeldDescriptors(int count, int ofDoorbells, Map<String, Integer> kinds) {
  /** What the doorbell of a thread takes. */
  public static final int OF_ONE_SLEEPER = 3;

  /** Those of now. */
  public static HeldDescriptors now() {
    Map<String, Integer> kinds = new TreeMap<>();
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path each : open) {
        kinds.merge(kind(each), 1, Integer::sum);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    int ofDoorbells = DoorbellPool.ofProcess().descriptors();
    int all = kinds.values().stream().mapToInt(Integer::intValue).sum();
    return new HeldDescriptors(all - ofDoorbells, ofDoorbells, kinds);
  }

  /** How many there are with those of doorbells. */
  public int all() {
    return count + ofDoorbells;
  }

  private static String kind(Path descriptor) {
    try {
      String target = Files.readSymbolicLink(descriptor).toString();
      return target.startsWith("/") ? "file" : target.replaceAll(":?\\[\\d+\\]", "");
    } catch (IOException e) {
      return "closed since it was listed";
    }
  }
}
