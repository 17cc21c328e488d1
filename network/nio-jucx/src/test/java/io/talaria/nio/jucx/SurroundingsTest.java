// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which JUCX, in which environment, is tried, and what is said of the others. */
@Timeout(60)
class SurroundingsTest {
  private static final String JARS = System.getProperty("talaria.test.jucx");

  @TempDir Path scratch;

  private final Map<String, String> environment = new TreeMap<>();
  private final Map<String, String> properties = new TreeMap<>();

  @BeforeEach
  void asTalariaRunSetsIt() {
    environment.put("UCX_LOG_FILE", "stderr");
    environment.put("UCX_HANDLE_ERRORS", "none");
    environment.put("UCX_POSIX_ERROR_HANDLING", "y");
    properties.put("os.arch", "amd64");
    properties.put("java.io.tmpdir", "/var/unpacked");
  }

  private Surroundings with(Path... jars) throws Exception {
    URL[] urls = new URL[jars.length];
    for (int i = 0; i < jars.length; i++) {
      urls[i] = jars[i].toUri().toURL();
    }
    return new Surroundings(
        new URLClassLoader(urls, ClassLoader.getPlatformClassLoader()),
        environment::get,
        properties::get);
  }

  private static Path jucx(String version) {
    return new File(JARS, "jucx-" + version + ".jar").toPath();
  }

  @Test
  void withoutJucxItsPlaceInMavenCentralIsNamed() throws Exception {
    assertThat(with().unavailableReason())
        .isEqualTo(
            "JUCX is not there. Put org.openucx:jucx:1.18.1 on the class path, or name its file by"
                + " -Dtalaria.jucx=/path/to/jucx-1.18.1.jar.");
  }

  @Test
  void aJarThatIsNoJucxIsNoJucx() throws Exception {
    Path jar = scratch.resolve("jucx.jar");
    new JarOutputStream(Files.newOutputStream(jar)).close();
    assertThat(with(jar).unavailableReason()).startsWith("JUCX is not there.");
  }

  @Test
  void whatLeaksIsRefusedByItsName() throws Exception {
    Surroundings here = with(jucx("1.12.1"));
    assertThat(here.unavailableReason()).startsWith("JUCX 1.12.1 is too old: ").contains("1.15.0");
    assertThat(here.version()).isEqualTo("1.12.1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.15.0", "1.18.1"})
  void whatWorksIsTried(String version) throws Exception {
    Surroundings here = with(jucx(version));
    assertThat(here.unavailableReason()).isEmpty();
    assertThat(here.version()).isEqualTo(version);
  }

  @Test
  void theFirstOnTheClassPathCounts() throws Exception {
    Surroundings here = with(jucx("1.15.0"), jucx("1.18.1"));
    assertThat(here.unavailableReason()).isEmpty();
    assertThat(here.version()).isEqualTo("1.15.0");
  }

  @Test
  void anotherProcessorHasNoNativePart() throws Exception {
    properties.put("os.arch", "riscv64");
    assertThat(with(jucx("1.18.1")).unavailableReason())
        .isEqualTo("JUCX 1.18.1 has no native part (libjucx_riscv64.so) for this processor.");
  }

  @Test
  void standardOutputStaysTheProgramsOwn() throws Exception {
    environment.remove("UCX_LOG_FILE");
    assertThat(with(jucx("1.18.1")).unavailableReason())
        .contains("standard output")
        .contains("start by \"talaria run\", or export UCX_LOG_FILE=stderr");
  }

  @Test
  void theJvmsSignalsStayItsOwn() throws Exception {
    environment.remove("UCX_HANDLE_ERRORS");
    assertThat(with(jucx("1.18.1")).unavailableReason())
        .endsWith("or export UCX_HANDLE_ERRORS=none.");
    environment.put("UCX_ERROR_SIGNALS", "SIGSEGV");
    assertThat(with(jucx("1.18.1")).unavailableReason())
        .endsWith("or export UCX_HANDLE_ERRORS=none.");
    environment.put("UCX_ERROR_SIGNALS", "");
    assertThat(with(jucx("1.18.1")).unavailableReason()).isEmpty();
  }

  @Test
  void sharedMemoryMustFindDeadPeers() throws Exception {
    environment.remove("UCX_POSIX_ERROR_HANDLING");
    for (String transports : new String[] {null, "all", "rc,posix", "^tcp"}) {
      environment.put("UCX_TLS", transports);
      assertThat(with(jucx("1.18.1")).unavailableReason())
          .as(transports)
          .endsWith("or export UCX_POSIX_ERROR_HANDLING=y.");
    }
    environment.put("UCX_TLS", "rc,ud");
    assertThat(with(jucx("1.18.1")).unavailableReason()).isEmpty();
  }

  @Test
  void aDirectoryWithoutExecutionIsNamedWithTheHint() throws Exception {
    Surroundings here = with(jucx("1.18.1"));
    assertThat(here.unavailableReason()).isEmpty();
    assertThat(
            here.unloadable(
                new UnsatisfiedLinkError(
                    "/tmp/x/libjucx_amd64.so: failed to map segment from shared object")))
        .startsWith("JUCX 1.18.1 cannot be loaded: its native part is unpacked into /var/unpacked,")
        .contains("-Djava.io.tmpdir");
  }

  @Test
  void aMissingUcxIsNamedWithTheHint() throws Exception {
    Surroundings here = with(jucx("1.18.1"));
    assertThat(here.unavailableReason()).isEmpty();
    assertThat(
            here.unloadable(
                new UnsatisfiedLinkError(
                    "libucp.so.0: cannot open shared object file: No such file or directory")))
        .startsWith("JUCX 1.18.1 cannot be loaded, because UCX is missing: install it");
  }
}
