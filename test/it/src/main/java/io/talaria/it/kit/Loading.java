// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Loads classes before they are needed: a program without descriptors can load none from files. */
public final class Loading {
  private static final String SUFFIX = ".class";

  private Loading() {}

  /**
   * Loads and initializes all classes of the package of a class whose names begin alike.
   *
   * @param first the class
   * @param prefix how their simple names begin; empty for all
   */
  public static void all(Class<?> first, String prefix)
      throws IOException, URISyntaxException, ClassNotFoundException {
    Path root = Path.of(first.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (!Files.isDirectory(root)) {
      return; // a jar stays open
    }
    Path folder = root.resolve(first.getPackageName().replace('.', '/'));
    List<String> names;
    try (Stream<Path> files = Files.list(folder)) {
      names = files.map(file -> file.getFileName().toString()).toList();
    }
    for (String name : names) {
      if (name.endsWith(SUFFIX) && name.startsWith(prefix) && !name.startsWith("package-info")) {
        String simple = name.substring(0, name.length() - SUFFIX.length());
        Class.forName(first.getPackageName() + "." + simple);
      }
    }
  }
}
