// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * The agent's jar that the accelerated run uses.
 *
 * @param file the file
 * @param version its version, {@code unknown} if it does not say
 */
public record AgentJar(Path file, String version) {
  private static final Path PLACE = Path.of("dist", "talaria.jar");

  /** In a release, where the jars of the commands are in a folder beside it. */
  private static final Path PLACE_IN_RELEASE = Path.of("talaria.jar");

  /**
   * Finds the agent: the file given, else {@code talaria.jar} of the release, or {@code
   * dist/talaria.jar} of the tree, that this program is in, else of the working directory.
   *
   * @param given the user's choice, or null
   * @throws HarnessException if there is none, or the file is no agent
   */
  public static AgentJar locate(Path given) throws HarnessException {
    Path file = given;
    if (file == null) {
      file = nearby();
      if (file == null) {
        throw new HarnessException(
            "no agent: "
                + PLACE
                + " does not exist; build it with './talaria build', or name the"
                + " jar with --agent FILE");
      }
    }
    return open(file);
  }

  /**
   * Where files belong that are made beside the agent.
   *
   * @param name a file's name
   * @return that file beside the agent, or in the working directory if there is no agent, or its
   *     folder is not this user's to write
   */
  public static Path sibling(String name) {
    Path agent = nearby();
    return agent == null || !Files.isWritable(agent.toAbsolutePath().getParent())
        ? Path.of(name)
        : agent.resolveSibling(name);
  }

  /** Whether this program is part of a release, and not of the sources. */
  public static boolean inRelease() {
    Path agent = nearby();
    return agent != null && Files.isRegularFile(agent.resolveSibling("VERSION"));
  }

  private static AgentJar open(Path file) throws HarnessException {
    if (!Files.isRegularFile(file)) {
      throw new HarnessException("no agent: " + file + " is not a file");
    }
    try (JarFile jar = new JarFile(file.toFile())) {
      Manifest manifest = jar.getManifest();
      if (manifest == null || manifest.getMainAttributes().getValue("Premain-Class") == null) {
        throw new HarnessException("no agent: the manifest of " + file + " names no Premain-Class");
      }
      String version = manifest.getMainAttributes().getValue("Implementation-Version");
      return new AgentJar(file.toAbsolutePath(), version == null ? "unknown" : version);
    } catch (IOException e) {
      throw new HarnessException("no agent: " + file + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static Path nearby() {
    for (Path folder = ownPlace(); folder != null; folder = folder.getParent()) {
      for (Path place : new Path[] {PLACE, PLACE_IN_RELEASE}) {
        if (Files.isRegularFile(folder.resolve(place))) {
          return folder.resolve(place);
        }
      }
    }
    return Files.isRegularFile(PLACE) ? PLACE : null;
  }

  private static Path ownPlace() {
    CodeSource source = AgentJar.class.getProtectionDomain().getCodeSource();
    try {
      return source == null ? null : Path.of(source.getLocation().toURI());
    } catch (URISyntaxException | IllegalArgumentException e) {
      return null;
    }
  }
}
