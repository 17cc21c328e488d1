// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.sysfs;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;

/**
 * A file with one unsigned number, read again and again. Kept open while the budget of descriptors
 * lasts, else opened for each look. For one thread at a time.
 */
public final class CounterFile implements AutoCloseable {
  private static final int MAX_BYTES = 32;

  private final Path path;
  private final Budget budget;
  private final byte[] bytes = new byte[MAX_BYTES];
  private RandomAccessFile file;
  private long value;

  /** How many more files may be kept open. For one thread at a time. */
  public static final class Budget {
    private int left;

    /**
     * Creates a budget.
     *
     * @param files how many
     */
    public Budget(int files) {
      left = files;
    }

    /**
     * How many more files may be kept open.
     *
     * @return a number
     */
    public int left() {
      return left;
    }
  }

  /**
   * Names a file, which is opened when it is first read.
   *
   * @param path the file
   * @param budget what its descriptor is taken from
   */
  public CounterFile(Path path, Budget budget) {
    this.path = path;
    this.budget = budget;
  }

  /**
   * Reads the file.
   *
   * @return whether it holds a number, which {@link #value} then has
   */
  public boolean read() {
    // No FileChannel: an interrupt of the reading thread would close it.
    try {
      if (file != null) {
        file.seek(0); // sysfs makes the text anew
        return parse(file.read(bytes));
      }
      RandomAccessFile opened = new RandomAccessFile(path.toFile(), "r");
      try {
        return parse(opened.read(bytes));
      } finally {
        if (budget.left > 0) {
          budget.left--;
          file = opened;
        } else {
          opened.close();
        }
      }
    } catch (IOException e) {
      close();
      return false;
    }
  }

  /**
   * What was read last.
   *
   * @return an unsigned number
   */
  public long value() {
    return value;
  }

  /** Reads decimal digits up to white space or the end; at most 2<sup>64</sup>-1. */
  private boolean parse(int length) {
    long number = 0;
    int digits = 0;
    for (int i = 0; i < length; i++) {
      int digit = bytes[i] - '0';
      if (digit < 0 || digit > 9) {
        if (bytes[i] == '\n' || bytes[i] == ' ') {
          break;
        }
        return false;
      }
      // As unsigned numbers: 10 * number + digit must not be more than 2^64 - 1.
      int most = Long.compareUnsigned(number, Long.divideUnsigned(-1L, 10));
      if (most > 0 || (most == 0 && digit > Long.remainderUnsigned(-1L, 10))) {
        return false;
      }
      number = number * 10 + digit;
      digits++;
    }
    if (digits == 0) {
      return false;
    }
    value = number;
    return true;
  }

  @Override
  public void close() {
    if (file != null) {
      try {
        file.close();
      } catch (IOException e) {
        // It was for reading only.
      }
      file = null;
      budget.left++;
    }
  }
}
