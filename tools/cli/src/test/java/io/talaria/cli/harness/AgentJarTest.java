// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentJarTest {
  @TempDir Path folder;

  @Test
  void aMissingFileIsNamed() {
    Path file = folder.resolve("none.jar");

    assertThatThrownBy(() -> AgentJar.locate(file))
        .isInstanceOf(HarnessException.class)
        .hasMessage("no agent: " + file + " is not a file");
  }

  @Test
  void aJarWithoutPremainClassIsNoAgent() throws IOException {
    Path file = jar("Implementation-Version", "7");

    assertThatThrownBy(() -> AgentJar.locate(file))
        .isInstanceOf(HarnessException.class)
        .hasMessage("no agent: the manifest of " + file + " names no Premain-Class");
  }

  @Test
  void anAgentTellsItsVersion() throws IOException, HarnessException {
    Path file = jar("Premain-Class", "x.Agent", "Implementation-Version", "7");

    assertThat(AgentJar.locate(file)).isEqualTo(new AgentJar(file, "7"));
  }

  private Path jar(String... attributes) throws IOException {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    for (int i = 0; i < attributes.length; i += 2) {
      manifest.getMainAttributes().putValue(attributes[i], attributes[i + 1]);
    }
    Path file = folder.resolve("agent.jar");
    try (OutputStream out = Files.newOutputStream(file);
        JarOutputStream jar = new JarOutputStream(out, manifest)) {
      jar.finish();
    }
    return file;
  }
}
