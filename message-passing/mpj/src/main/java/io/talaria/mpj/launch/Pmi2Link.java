// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * A rank's link to a launcher that speaks PMI-2, such as Slurm's {@code srun --mpi=pmi2}. It begins
 * with a line of PMI-1; from then on messages are {@code cmd=NAME;key=value;...}, behind six
 * characters that say how long they are. Used by one thread at a time.
 */
final class Pmi2Link extends Pmi {
  private static final String INIT = "cmd=init pmi_version=2 pmi_subversion=0";
  private static final int LENGTH_BYTES = 6;
  private static final int MAX_LINE_BYTES = 1_024;
  private static final int MAX_MESSAGE_BYTES = 1 << 16;

  /** PMI-2 fixes it. */
  private static final int VALUE_LENGTH = 1_024;

  /** What a rank puts where all meet, and rank 0 when it has found all of them. */
  private static final String HERE = "here";

  private static final String ALL = "all-here";

  private final InputStream in;
  private final OutputStream out;

  /**
   * Begins the exchange.
   *
   * @param in from the launcher
   * @param out to it
   * @param job the launcher's name of the job
   * @param rank of this process
   * @throws IOException if the launcher uses another protocol
   */
  Pmi2Link(InputStream in, OutputStream out, String job, int rank) throws IOException {
    this.in = in;
    this.out = out;
    say(INIT + "\n");
    String line = line();
    if (!line.startsWith("cmd=response_to_init ") || !(" " + line + " ").contains(" rc=0 ")) {
      throw new IOException("the launcher answers «" + line + "» to «" + INIT + "»");
    }
    ask("fullinit", "pmijobid=" + job + ";pmirank=" + rank + ";threaded=FALSE;");
  }

  private void say(String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  /** Reads no byte too many: what follows is no line. */
  private String line() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new IOException("the launcher has ended its link of PMI");
      }
      if (bytes.size() == MAX_LINE_BYTES) {
        throw new IOException("the launcher's first line is longer than " + MAX_LINE_BYTES);
      }
      bytes.write(b);
    }
    return bytes.toString(StandardCharsets.US_ASCII).trim();
  }

  private void send(String command, String rest) throws IOException {
    String message = "cmd=" + command + ";" + rest;
    StringBuilder length = new StringBuilder(String.valueOf(message.length()));
    while (length.length() < LENGTH_BYTES) {
      length.append(' ');
    }
    say(length + message);
  }

  private Map<String, String> ask(String command, String rest) throws IOException {
    send(command, rest);
    String answer = message();
    Map<String, String> fields = new TreeMap<>();
    for (String word : answer.split(";")) {
      int equals = word.indexOf('=');
      if (equals > 0) {
        fields.put(word.substring(0, equals), word.substring(equals + 1));
      }
    }
    if (!(command + "-response").equals(fields.get("cmd"))
        || !fields.getOrDefault("rc", "0").equals("0")) {
      throw new IOException("the launcher answers «" + answer + "» to «" + command + "»");
    }
    return fields;
  }

  private String message() throws IOException {
    String length = text(LENGTH_BYTES).trim();
    if (!length.matches("[0-9]{1,6}") || Integer.parseInt(length) > MAX_MESSAGE_BYTES) {
      throw new IOException(
          "the launcher says that a message has «"
              + length
              + "» bytes: a number to "
              + MAX_MESSAGE_BYTES
              + " is allowed");
    }
    return text(Integer.parseInt(length));
  }

  private String text(int bytes) throws IOException {
    byte[] read = in.readNBytes(bytes);
    if (read.length < bytes) {
      throw new IOException("the launcher has ended its link of PMI");
    }
    return new String(read, StandardCharsets.US_ASCII);
  }

  @Override
  int valueLength() {
    return VALUE_LENGTH;
  }

  @Override
  void putValue(String key, String value) throws IOException {
    ask("kvs-put", "key=" + key + ";value=" + value + ";");
  }

  @Override
  String getValue(String key) throws IOException {
    // No job and no source: this job's values, from any rank.
    Map<String, String> fields = ask("kvs-get", "jobid=;srcid=-1;key=" + key + ";");
    if (!"TRUE".equals(fields.get("found")) || !fields.containsKey("value")) {
      throw new IOException("the launcher has no value of " + key);
    }
    return fields.get("value");
  }

  @Override
  void barrier() throws IOException {
    ask("kvs-fence", "");
  }

  /**
   * The launcher may answer a fence at once, as MPICH's does: only who gets a value waits until it
   * is put. So rank 0 gets one of each rank, and then the others get one of rank 0.
   */
  @Override
  void meet(int rank, int size) throws IOException {
    put(HERE + rank, "");
    barrier();
    if (rank == 0) {
      for (int i = 1; i < size; i++) {
        String unused = get(HERE + i);
      }
      put(ALL, "");
    }
    barrier();
    if (rank != 0) {
      String unused = get(ALL);
    }
  }

  @Override
  void end() throws IOException {
    ask("finalize", "");
  }

  /** PMI-2 has no place for the status: what the launcher ends with is its own choice. */
  @Override
  void abort(int status) throws IOException {
    send("abort", "isworld=TRUE;msg=status " + status + ";");
  }

  @Override
  public void close() throws IOException {
    in.close();
    out.close();
  }
}
