// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads the words of an option that takes some of the constants of a type only; one that takes all
 * of them needs no converter.
 *
 * @param <E> their type
 */
public abstract class Words<E> implements ITypeConverter<E> {
  private final List<E> all;

  /**
   * Creates a converter.
   *
   * @param all the constants that the option takes, as their {@code toString} writes them
   */
  protected Words(List<E> all) {
    this.all = List.copyOf(all);
  }

  @Override
  public E convert(String word) {
    return all.stream()
        .filter(constant -> constant.toString().equals(word.strip()))
        .findFirst()
        .orElseThrow(
            () ->
                new TypeConversionException(
                    "there is no '"
                        + word
                        + "', but "
                        + all.stream().map(Object::toString).collect(Collectors.joining(", "))));
  }
}
