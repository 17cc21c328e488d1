// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.hosts;

import io.talaria.nio.authentication.HostKey;
import io.talaria.nio.config.Config;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * What a process needs to find peers on other hosts: rules, key, and where rendezvous ports are.
 * Immutable. If something is wrong with it, it says so in {@link #problem} and the rest is not to
 * be used.
 */
public final class HostSettings {
  private static final int MAX_PORT = 65_535;

  private final HostRules rules;
  private final byte[] key;
  private final int offset;
  private final String problem;

  private HostSettings(HostRules rules, byte[] key, int offset, String problem) {
    this.rules = rules;
    this.key = key;
    this.offset = offset;
    this.problem = problem;
  }

  /**
   * What is needed, from rules and a key that are there.
   *
   * @param rules which hosts may be asked
   * @param key what hosts share, at least {@link HostKey#MIN_BYTES}
   * @param offset {@value Config#RENDEZVOUS_OFFSET}
   */
  public static HostSettings of(HostRules rules, byte[] key, int offset) {
    return new HostSettings(rules, key.clone(), offset, null);
  }

  /** Reads the files that a configuration names; null if it names no rules. */
  public static HostSettings load(Config config) {
    Path rules = config.rules();
    if (rules == null) {
      return null;
    }
    if (config.key() == null) {
      return unusable(Config.RULES + " is set, and " + Config.KEY + " is not");
    }
    try {
      return of(HostRules.read(rules), HostKey.read(config.key()), config.rendezvousOffset());
    } catch (IOException e) {
      return unusable(problem(e));
    } catch (UnsupportedOperationException e) {
      return unusable(e.getMessage());
    }
  }

  /** What is wrong with a file of rules or a key, for people, by what reading it came to. */
  public static String problem(IOException failure) {
    if (failure instanceof NoSuchFileException missing) {
      return "there is no file " + missing.getFile();
    }
    if (failure instanceof AccessDeniedException denied) {
      return denied.getFile() + " may not be read by this user";
    }
    return failure.getMessage();
  }

  private static HostSettings unusable(String problem) {
    return new HostSettings(null, null, 0, problem);
  }

  /** What is wrong, or null. */
  public String problem() {
    return problem;
  }

  /** Which hosts may be asked, and which may ask. */
  public HostRules rules() {
    return rules;
  }

  /** What hosts share; never to be printed. */
  public byte[] key() {
    return key.clone();
  }

  /** The rendezvous port of a service: so far above its port, or below if that is too high. */
  public int rendezvousPort(int servicePort) {
    int above = servicePort + offset;
    return above <= MAX_PORT ? above : servicePort - offset;
  }
}
