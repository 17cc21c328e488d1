// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * A rank's link to a launcher that speaks PMI-1, such as MPICH's {@code mpiexec}: a line each way,
 * {@code cmd=NAME key=value ...}. Used by one thread at a time.
 */
final class PmiLink extends Pmi {
  private static final String COMMAND = "cmd";

  private final BufferedReader in;
  private final OutputStream out;
  private final String space;
  private final int valueLength;
  private int size;
  private int rank;

  /**
   * Begins the exchange.
   *
   * @param in from the launcher
   * @param out to it
   * @throws IOException if the launcher uses another protocol
   */
  PmiLink(InputStream in, OutputStream out) throws IOException {
    this(in, out, -1);
  }

  /**
   * The same over a connection that this process made: the launcher must be told which process it
   * is.
   *
   * @param id number of this process
   */
  static PmiLink handshake(InputStream in, OutputStream out, int id) throws IOException {
    return new PmiLink(in, out, id);
  }

  private PmiLink(InputStream in, OutputStream out, int id) throws IOException {
    this.in = new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII));
    this.out = out;
    if (id >= 0) {
      ask("cmd=initack pmiid=" + id, "initack");
      size = Integer.parseInt(set("size"));
      rank = Integer.parseInt(set("rank"));
      String ignored = set("debug");
    }
    ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
    valueLength = number(ask("cmd=get_maxes", "maxes"), "vallen_max");
    space = field(ask("cmd=get_my_kvsname", "my_kvsname"), "kvsname");
  }

  /** What a launcher says of its own accord, in this order. */
  private String set(String name) throws IOException {
    String line = in.readLine();
    String start = "cmd=set " + name + "=";
    if (line == null || !line.trim().matches(start + "[0-9]{1,9}")) {
      throw new IOException("the launcher says «" + line + "», and not " + start + "NUMBER");
    }
    return line.trim().substring(start.length());
  }

  /** Ranks of the job, as the launcher said in its handshake. */
  int size() {
    return size;
  }

  /** Number of this rank, as the launcher said in its handshake. */
  int rank() {
    return rank;
  }

  private Map<String, String> ask(String question, String answer) throws IOException {
    out.write((question + "\n").getBytes(StandardCharsets.US_ASCII));
    out.flush();
    String line = in.readLine();
    if (line == null) {
      throw new IOException("the launcher has ended its link of PMI");
    }
    Map<String, String> fields = new TreeMap<>();
    for (String word : line.trim().split("\\s+")) {
      int equals = word.indexOf('=');
      if (equals > 0) {
        fields.put(word.substring(0, equals), word.substring(equals + 1));
      }
    }
    if (!answer.equals(fields.get(COMMAND)) || !fields.getOrDefault("rc", "0").equals("0")) {
      throw new IOException("the launcher answers «" + line + "» to «" + question + "»");
    }
    return fields;
  }

  private static String field(Map<String, String> fields, String name) throws IOException {
    String value = fields.get(name);
    if (value == null) {
      throw new IOException("the launcher's answer has no " + name + ": " + fields);
    }
    return value;
  }

  private static int number(Map<String, String> fields, String name) throws IOException {
    String value = field(fields, name);
    if (!value.matches("[1-9][0-9]{1,8}")) {
      throw new IOException("the launcher says " + name + "=" + value);
    }
    return Integer.parseInt(value);
  }

  @Override
  int valueLength() {
    return valueLength;
  }

  @Override
  void putValue(String key, String value) throws IOException {
    ask("cmd=put kvsname=" + space + " key=" + key + " value=" + value, "put_result");
  }

  @Override
  String getValue(String key) throws IOException {
    return field(ask("cmd=get kvsname=" + space + " key=" + key, "get_result"), "value");
  }

  @Override
  void barrier() throws IOException {
    ask("cmd=barrier_in", "barrier_out");
  }

  @Override
  void end() throws IOException {
    ask("cmd=finalize", "finalize_ack");
  }

  @Override
  void abort(int status) throws IOException {
    out.write(("cmd=abort exitcode=" + status + "\n").getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  @Override
  public void close() throws IOException {
    in.close();
    out.close();
  }
}
