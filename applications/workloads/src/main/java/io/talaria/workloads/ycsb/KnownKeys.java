// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.text.similarity.LevenshteinDistance;
import site.ycsb.Client;
import site.ycsb.Workload;
import site.ycsb.generator.ExponentialGenerator;
import site.ycsb.measurements.Measurements;
import site.ycsb.measurements.OneMeasurementHdrHistogram;
import site.ycsb.measurements.OneMeasurementHistogram;
import site.ycsb.measurements.OneMeasurementTimeSeries;
import site.ycsb.workloads.CoreWorkload;

/** The names of YCSB's properties. YCSB itself passes over a misspelt one. */
final class KnownKeys {
  /** They have their names in public constants, beside those of their defaults. */
  private static final List<Class<?>> NAMING =
      List.of(
          CoreWorkload.class,
          Workload.class,
          Client.class,
          Measurements.class,
          OneMeasurementHdrHistogram.class,
          OneMeasurementHistogram.class,
          OneMeasurementTimeSeries.class,
          ExponentialGenerator.class);

  /** Of no constant that can be seen. */
  private static final List<String> OTHERS =
      List.of(
          "hdrhistogram.fileoutput",
          "hdrhistogram.output.path",
          "latencytrackederrors",
          "reportlatencyforeacherror",
          "status.interval");

  private static final Set<String> ALL = collect();
  private static final int SHOWN = 3;

  private KnownKeys() {}

  private static Set<String> collect() {
    Set<String> keys = new TreeSet<>(OTHERS);
    NAMING.stream()
        .flatMap(type -> Stream.of(type.getFields()))
        .filter(KnownKeys::names)
        .map(KnownKeys::value)
        .forEach(keys::add);
    return keys;
  }

  private static boolean names(Field field) {
    return Modifier.isStatic(field.getModifiers())
        && field.getType() == String.class
        && !field.getName().contains("DEFAULT");
  }

  private static String value(Field constant) {
    try {
      return (String) constant.get(null);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(constant + " is public", e);
    }
  }

  /**
   * Returns the first key that is not known.
   *
   * @param keys what the user has written
   * @param store the store's name, which begins the names of its own properties
   * @return what to tell the user, or null
   */
  static String unknown(Collection<String> keys, String store) {
    return keys.stream()
        .filter(key -> !ALL.contains(key) && !key.startsWith(store + "."))
        .findFirst()
        .map(key -> "there is no property '" + key + "'; the nearest: " + nearest(key))
        .orElse(null);
  }

  private static String nearest(String key) {
    LevenshteinDistance distance = LevenshteinDistance.getDefaultInstance();
    return ALL.stream()
        .sorted(Comparator.comparingInt(known -> distance.apply(key, known)))
        .limit(SHOWN)
        .collect(Collectors.joining(", "));
  }
}
