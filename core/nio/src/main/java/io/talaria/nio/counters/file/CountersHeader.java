// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A copy of a file's header that has been checked. */
public final class CountersHeader {
  private static final Pattern NAME =
      Pattern.compile(
          "(\\d{1,18})-(\\d{1,18})(?:-\\d{1,2})?" + Pattern.quote(CountersLayout.SUFFIX));

  private final Path file;
  private final ByteBuffer copy;

  private CountersHeader(Path file, ByteBuffer copy) {
    this.file = file;
    this.copy = copy;
  }

  /** Whether a file name is that of a counters file. */
  public static boolean isName(Path file) {
    return NAME.matcher(file.getFileName().toString()).matches();
  }

  /** The process id in the name of a counters file. */
  public static long pidOfName(Path file) {
    return numberOfName(file, 1);
  }

  /** The start time in the name of a counters file. */
  public static long startTicksOfName(Path file) {
    return numberOfName(file, 2);
  }

  private static long numberOfName(Path file, int group) {
    Matcher matcher = NAME.matcher(file.getFileName().toString());
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not the name of a counters file: " + file);
    }
    return Long.parseLong(matcher.group(group));
  }

  /**
   * Reads and checks a header.
   *
   * @throws CountersFormatException if it makes no sense
   */
  public static CountersHeader read(Path file, FileChannel channel) throws IOException {
    CountersHeader header = readIdentity(file, channel);
    header.check(channel.size());
    return header;
  }

  /**
   * Reads a header of any version and checks only what is the same in all of them: whose it is.
   *
   * @throws CountersFormatException if that makes no sense
   */
  public static CountersHeader readIdentity(Path file, FileChannel channel) throws IOException {
    ByteBuffer copy =
        ByteBuffer.allocate(CountersLayout.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    int got = readFully(channel, copy, 0);
    if (got < CountersLayout.HEADER_BYTES) {
      throw new CountersFormatException(
          file, "only " + got + " bytes, but a header has " + CountersLayout.HEADER_BYTES);
    }
    CountersHeader header = new CountersHeader(file, copy);
    header.checkIdentity();
    return header;
  }

  /**
   * Fills a buffer from a position on, as far as the file goes.
   *
   * @return how many bytes were read
   */
  public static int readFully(FileChannel channel, ByteBuffer to, long position)
      throws IOException {
    int total = 0;
    while (to.hasRemaining()) {
      int got = channel.read(to, position + total);
      if (got < 0) {
        break;
      }
      total += got;
    }
    return total;
  }

  private void checkIdentity() throws CountersFormatException {
    expect("magic", copy.getLong(CountersLayout.H_MAGIC), CountersLayout.MAGIC);
    if (isName(file)) {
      expect("process id", pid(), pidOfName(file));
      expect("start time", startTicks(), startTicksOfName(file));
    }
  }

  private void check(long fileBytes) throws CountersFormatException {
    expect("version", copy.getInt(CountersLayout.H_VERSION), CountersLayout.VERSION);
    expect(
        "header length", copy.getInt(CountersLayout.H_HEADER_BYTES), CountersLayout.HEADER_BYTES);
    expect(
        "record length", copy.getInt(CountersLayout.H_RECORD_BYTES), CountersLayout.RECORD_BYTES);
    int capacity = copy.getInt(CountersLayout.H_CAPACITY);
    if (capacity < 0 || capacity > CountersLayout.MAX_RECORDS) {
      throw new CountersFormatException(
          file, "capacity " + capacity + " is not within 0 and " + CountersLayout.MAX_RECORDS);
    }
    if (CountersLayout.recordOffset(capacity) > fileBytes) {
      throw new CountersFormatException(
          file, "capacity " + capacity + " does not fit into its " + fileBytes + " bytes");
    }
    if (used() < 0 || used() > capacity) {
      throw new CountersFormatException(
          file, "records used " + used() + " is not within 0 and the capacity " + capacity);
    }
  }

  private void expect(String what, long found, long expected) throws CountersFormatException {
    if (found != expected) {
      throw new CountersFormatException(
          file, "unexpected " + what + " " + found + " instead of " + expected);
    }
  }

  public long pid() {
    return copy.getLong(CountersLayout.H_PID);
  }

  public long startTicks() {
    return copy.getLong(CountersLayout.H_START_TICKS);
  }

  public long pidNamespace() {
    return copy.getLong(CountersLayout.H_PID_NAMESPACE);
  }

  public UUID bootId() {
    return new UUID(
        copy.getLong(CountersLayout.H_BOOT_ID_UPPER), copy.getLong(CountersLayout.H_BOOT_ID_LOWER));
  }

  public long openedAtMs() {
    return copy.getLong(CountersLayout.H_OPENED_AT);
  }

  public int used() {
    return copy.getInt(CountersLayout.H_USED);
  }

  public long unlisted() {
    return Math.max(0, copy.getLong(CountersLayout.H_UNLISTED));
  }

  public long[] process() {
    return values(CountersLayout.H_PROCESS, CountersLayout.PROCESS_VALUES);
  }

  public long[] refused() {
    return values(CountersLayout.H_REFUSED, CountersLayout.REASONS);
  }

  private long[] values(int offset, int count) {
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      values[i] = copy.getLong(offset + i * Long.BYTES);
    }
    return values;
  }

  public String talariaVersion() throws CountersFormatException {
    return text(CountersLayout.H_TALARIA_VERSION, CountersLayout.TALARIA_VERSION_BYTES);
  }

  public String javaVersion() throws CountersFormatException {
    return text(CountersLayout.H_JAVA_VERSION, CountersLayout.JAVA_VERSION_BYTES);
  }

  public String program() throws CountersFormatException {
    return text(CountersLayout.H_PROGRAM, CountersLayout.PROGRAM_BYTES);
  }

  public String command() throws CountersFormatException {
    return text(CountersLayout.H_COMMAND, CountersLayout.COMMAND_BYTES);
  }

  public String ucxUnavailableReason() throws CountersFormatException {
    return text(CountersLayout.H_UCX_UNAVAILABLE, CountersLayout.UCX_UNAVAILABLE_BYTES);
  }

  private String text(int offset, int lengthBytes) throws CountersFormatException {
    int length = Short.toUnsignedInt(copy.getShort(offset));
    if (length > lengthBytes - 2) {
      throw new CountersFormatException(
          file, "text of " + length + " bytes at " + offset + " has room for " + (lengthBytes - 2));
    }
    return printable(copy, offset + 2, length);
  }

  /**
   * Decodes UTF-8 and replaces what would do harm in a terminal. The module {@code ffi} does the
   * same for the others, but this one depends on no module; a test of {@code cli} compares them.
   */
  public static String printable(ByteBuffer from, int offset, int lengthBytes) {
    byte[] bytes = new byte[lengthBytes];
    for (int i = 0; i < lengthBytes; i++) {
      bytes[i] = from.get(offset + i);
    }
    StringBuilder text = new StringBuilder(lengthBytes);
    new String(bytes, StandardCharsets.UTF_8)
        .codePoints()
        .map(c -> isPrintable(c) ? c : '?')
        .forEach(text::appendCodePoint);
    return text.toString();
  }

  private static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
