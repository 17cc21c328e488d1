// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Small file systems in memory, mounted for one test. Needs root. */
public final class Tmpfs {
  private Tmpfs() {}

  /**
   * Mounts an empty one; the test is skipped if that is not allowed.
   *
   * @param lab unmounts it after the test
   * @param options as for {@code mount -o}
   * @return its directory
   * @throws IOException if there is no place for it
   * @throws InterruptedException if the test's time is up
   */
  public static Path mount(Lab lab, String options) throws IOException, InterruptedException {
    assumeTrue(Proc.root(), "not root: nothing can be mounted");
    Path place = Files.createDirectory(lab.scratch().resolve("tmpfs"));
    try {
      Proc.run("mount", "-t", "tmpfs", "-o", options, "talaria-it", place.toString());
    } catch (IOException e) {
      abort("nothing can be mounted: " + e.getMessage());
    }
    lab.afterwards(() -> Proc.run("umount", place.toString()));
    return place;
  }

  /**
   * Mounts one and fills it to its last byte.
   *
   * @param lab unmounts it after the test
   * @return its directory
   * @throws IOException if there is no place for it
   * @throws InterruptedException if the test's time is up
   */
  public static Path mountFull(Lab lab) throws IOException, InterruptedException {
    Path place = mount(lab, "size=64k,mode=700");
    try (FileChannel file =
        FileChannel.open(
            place.resolve("ballast"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      while (true) {
        file.write(ByteBuffer.allocate(4096));
      }
    } catch (IOException e) {
      return place;
    }
  }
}
