// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import site.ycsb.Client;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/** Reads and checks the properties that describe a workload. */
public final class WorkloadFile {
  /** How many records there are. */
  public static final String RECORDS = Client.RECORD_COUNT_PROPERTY;

  /** How many operations a run has. */
  public static final String OPERATIONS = Client.OPERATION_COUNT_PROPERTY;

  /** How many fields a record has. */
  public static final String FIELDS = CoreWorkload.FIELD_COUNT_PROPERTY;

  /** How long a field is, in bytes. */
  public static final String FIELD_LENGTH = CoreWorkload.FIELD_LENGTH_PROPERTY;

  private static final String STANDARD = "abcdef";
  private static final long MAX_COUNT = Integer.MAX_VALUE;

  private static final Map<String, String> SHARES =
      Map.of(
          CoreWorkload.READ_PROPORTION_PROPERTY,
          CoreWorkload.READ_PROPORTION_PROPERTY_DEFAULT,
          CoreWorkload.UPDATE_PROPORTION_PROPERTY,
          CoreWorkload.UPDATE_PROPORTION_PROPERTY_DEFAULT,
          CoreWorkload.INSERT_PROPORTION_PROPERTY,
          CoreWorkload.INSERT_PROPORTION_PROPERTY_DEFAULT,
          CoreWorkload.SCAN_PROPORTION_PROPERTY,
          CoreWorkload.SCAN_PROPORTION_PROPERTY_DEFAULT,
          CoreWorkload.READMODIFYWRITE_PROPORTION_PROPERTY,
          CoreWorkload.READMODIFYWRITE_PROPORTION_PROPERTY_DEFAULT);

  private WorkloadFile() {}

  /** A workload that cannot be run; the message says why and is meant for the user. */
  public static final class WorkloadFileException extends Exception {
    private static final long serialVersionUID = 1L;

    WorkloadFileException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * Reads a workload.
   *
   * @param name a letter from a to f, or a file of the user's
   * @param store the name of the store, which begins the names of properties of its own
   * @throws WorkloadFileException if there is no such file, or a property in it means nothing
   */
  public static Map<String, String> read(String name, String store) throws WorkloadFileException {
    Properties properties = new Properties();
    try (Reader in = open(name)) {
      properties.load(in);
    } catch (IOException | IllegalArgumentException e) {
      throw new WorkloadFileException(
          "no workload '" + name + "': it is neither one of a to f nor a file of properties", e);
    }
    Map<String, String> read = new TreeMap<>();
    // Properties keep blanks behind a value, which YCSB takes for part of a number.
    properties
        .stringPropertyNames()
        .forEach(key -> read.put(key, properties.getProperty(key).strip()));
    String unknown = KnownKeys.unknown(read.keySet(), store);
    if (unknown != null) {
      throw new WorkloadFileException(unknown, null);
    }
    return read;
  }

  private static Reader open(String name) throws IOException {
    if (name.length() == 1 && STANDARD.contains(name)) {
      InputStream in = WorkloadFile.class.getResourceAsStream("workload-" + name + ".properties");
      return new InputStreamReader(in, StandardCharsets.UTF_8);
    }
    return Files.newBufferedReader(Path.of(name));
  }

  /**
   * Sees whether YCSB can run a workload.
   *
   * @param workload its properties, all of them
   * @throws WorkloadFileException if it cannot
   */
  public static void check(Map<String, String> workload) throws WorkloadFileException {
    for (String key : List.of(RECORDS, OPERATIONS, FIELDS, FIELD_LENGTH)) {
      whole(key, workload.get(key));
    }
    String kind = workload.getOrDefault(Client.WORKLOAD_PROPERTY, "CoreWorkload");
    if (!kind.endsWith("CoreWorkload")) {
      throw new WorkloadFileException(
          Client.WORKLOAD_PROPERTY + "=" + kind + ": there is only CoreWorkload here", null);
    }
    double sum = 0;
    for (String key : SHARES.keySet()) {
      sum += share(workload, key);
    }
    if (sum <= 0) {
      throw new WorkloadFileException("the proportions of all operations are 0", null);
    }
    Properties properties = new Properties();
    properties.putAll(workload);
    try {
      // What the workload measures by, though nothing is measured here.
      Measurements.setProperties(properties);
      new CoreWorkload().init(properties);
    } catch (site.ycsb.WorkloadException | RuntimeException e) {
      throw new WorkloadFileException("YCSB refuses the workload: " + e.getMessage(), e);
    }
  }

  /**
   * Returns whether a workload scans.
   *
   * @param workload its properties
   * @throws WorkloadFileException if it does not say so clearly
   */
  public static boolean scans(Map<String, String> workload) throws WorkloadFileException {
    return share(workload, CoreWorkload.SCAN_PROPORTION_PROPERTY) > 0;
  }

  /** Returns whether a workload that has been checked inserts records. */
  static boolean inserts(Map<String, String> workload) {
    try {
      return share(workload, CoreWorkload.INSERT_PROPORTION_PROPERTY) > 0;
    } catch (WorkloadFileException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static double share(Map<String, String> workload, String key)
      throws WorkloadFileException {
    String text = workload.getOrDefault(key, SHARES.get(key)).strip();
    try {
      double share = Double.parseDouble(text);
      if (share >= 0 && share <= 1) {
        return share;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new WorkloadFileException(key + "=" + text + " is no number from 0 to 1", null);
  }

  private static void whole(String key, String text) throws WorkloadFileException {
    try {
      long value = Long.parseLong(text);
      if (value >= 1 && value <= MAX_COUNT) {
        return;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new WorkloadFileException(
        key + "=" + text + " is no whole number from 1 to " + MAX_COUNT, null);
  }
}
