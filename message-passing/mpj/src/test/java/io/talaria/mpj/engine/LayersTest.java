// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which layers know each other, by the names in the compiled classes. */
@Timeout(60)
class LayersTest {
  private static final Pattern API = Pattern.compile("(^|.*[L(;<\\[])mpi/[A-Z].*");

  private static Path classes() throws URISyntaxException {
    return Path.of(Engine.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  /** Names and descriptors in a class, and its texts. */
  private static List<String> words(Path file) throws IOException {
    ClassModel model = ClassFile.of().parse(file);
    List<String> words = new ArrayList<>();
    for (PoolEntry entry : model.constantPool()) {
      if (entry instanceof Utf8Entry text) {
        words.add(text.stringValue());
      }
    }
    return words;
  }

  @Test
  void noLayerBelowKnowsTheApi() throws Exception {
    int looked = 0;
    for (String layer :
        List.of("collective", "datatype", "device", "engine", "launch", "onesided")) {
      try (Stream<Path> below = Files.walk(classes().resolve("io/talaria/mpj").resolve(layer))) {
        for (Path file : below.filter(f -> f.toString().endsWith(".class")).toList()) {
          assertThat(words(file)).as("" + file).noneMatch(word -> API.matcher(word).matches());
          looked++;
        }
      }
    }
    assertThat(looked).isGreaterThan(50);
    assertThat(words(classes().resolve("mpi/Comm.class")))
        .as("a class that does know it")
        .anyMatch(word -> API.matcher(word).matches());
  }

  @Test
  void engineKnowsNoImplementationOfItsDevice() throws Exception {
    assertThat(words(classes().resolve("io/talaria/mpj/engine/Engine.class")))
        .noneMatch(word -> word.matches(".*io/talaria/mpj/device/[a-z].*"));
  }
}
