// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;

/** What is in the file that users get. */
class AgentJarTest {
  private static final String ENTRY_CLASS = "io.talaria.agent.TalariaAgent";
  private static final int JAVA_8 = 52;
  private static final int JAVA_17 = 61;

  @Test
  void entryClassIsJava8ByteCode() throws IOException {
    assertThat(classFileVersion(ENTRY_CLASS)).isEqualTo(JAVA_8);
    assertThat(classFileVersion("io.talaria.agent.Activation")).isEqualTo(JAVA_17);
    assertThat(classFileVersion("io.talaria.nio.config.Config")).isEqualTo(JAVA_17);
  }

  @Test
  void manifestNamesTheEntryClass() throws IOException {
    try (JarFile jar = new JarFile(Child.AGENT)) {
      Attributes manifest = jar.getManifest().getMainAttributes();
      assertThat(manifest.getValue("Premain-Class")).isEqualTo(ENTRY_CLASS);
      assertThat(manifest.getValue("Agent-Class")).isEqualTo(ENTRY_CLASS);
      assertThat(manifest.getValue("Implementation-Version")).isNotEmpty();
    }
  }

  @Test
  void holdsOnlyTalariaAndRegistersNothing() throws IOException {
    try (JarFile jar = new JarFile(Child.AGENT)) {
      assertThat(jar.stream().map(JarEntry::getName).filter(name -> !name.endsWith("/")))
          .contains("io/talaria/nio/TalariaProvider.class")
          .allMatch(name -> name.startsWith("io/talaria/") || name.startsWith("META-INF/"))
          .noneMatch(name -> name.startsWith("META-INF/services"))
          .doesNotContain("module-info.class");
    }
  }

  private static int classFileVersion(String className) throws IOException {
    String name = className.replace('.', '/') + ".class";
    try (JarFile jar = new JarFile(Child.AGENT);
        DataInputStream in = new DataInputStream(jar.getInputStream(jar.getEntry(name)))) {
      assertThat(in.readInt()).isEqualTo(0xCAFEBABE);
      in.readUnsignedShort();
      return in.readUnsignedShort();
    }
  }
}
