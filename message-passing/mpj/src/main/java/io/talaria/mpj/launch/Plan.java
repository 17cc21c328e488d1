// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a host has to do.
 *
 * @param hostOfRank for each rank of the job the number of its host
 * @param host which of them this is
 * @param hostName its name; empty in a job on one host
 * @param device shm, sm, nio, ucx, ibv or auto
 * @param label whether lines get the number of their rank
 * @param bind whether each rank gets one core
 * @param directory working directory
 * @param environment variables to set in the ranks
 * @param jvmOptions of the ranks
 * @param classPath of the library and of the program
 * @param mainClass the program
 * @param arguments of the program
 * @param secret of the job
 */
record Plan(
    List<Integer> hostOfRank,
    int host,
    String hostName,
    String device,
    boolean label,
    boolean bind,
    String directory,
    Map<String, String> environment,
    List<String> jvmOptions,
    String classPath,
    String mainClass,
    List<String> arguments,
    String secret) {
  private static final int MAX_WORDS = 1 << 20;

  int size() {
    return hostOfRank.size();
  }

  /** The same with another device. */
  Plan with(String other) {
    return new Plan(
        hostOfRank,
        host,
        hostName,
        other,
        label,
        bind,
        directory,
        environment,
        jvmOptions,
        classPath,
        mainClass,
        arguments,
        secret);
  }

  boolean threads() {
    return device.equals("sm");
  }

  /** Whether ranks of this host have rings in shared files. */
  boolean rings() {
    return device.equals("shm") || device.equals("auto");
  }

  /** The ranks of this host, in order. */
  List<Integer> ranks() {
    List<Integer> ranks = new ArrayList<>();
    for (int i = 0; i < hostOfRank.size(); i++) {
      if (hostOfRank.get(i) == host) {
        ranks.add(i);
      }
    }
    return ranks;
  }

  boolean severalHosts() {
    return !hostName.isEmpty();
  }

  void write(DataOutput out) throws IOException {
    out.writeInt(hostOfRank.size());
    for (int each : hostOfRank) {
      out.writeInt(each);
    }
    out.writeInt(host);
    out.writeUTF(hostName);
    out.writeUTF(device);
    out.writeBoolean(label);
    out.writeBoolean(bind);
    out.writeUTF(directory);
    List<String> variables = new ArrayList<>();
    environment.forEach((name, value) -> variables.addAll(List.of(name, value)));
    words(out, variables);
    words(out, jvmOptions);
    words(out, List.of(classPath, mainClass));
    words(out, arguments);
    out.writeUTF(secret);
  }

  static Plan read(DataInput in) throws IOException {
    int size = count(in);
    List<Integer> hostOfRank = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      hostOfRank.add(in.readInt());
    }
    int host = in.readInt();
    String hostName = in.readUTF();
    String device = in.readUTF();
    boolean label = in.readBoolean();
    boolean bind = in.readBoolean();
    String directory = in.readUTF();
    List<String> variables = words(in);
    Map<String, String> environment = new LinkedHashMap<>();
    for (int i = 0; i + 1 < variables.size(); i += 2) {
      environment.put(variables.get(i), variables.get(i + 1));
    }
    List<String> jvmOptions = words(in);
    List<String> program = words(in);
    return new Plan(
        hostOfRank,
        host,
        hostName,
        device,
        label,
        bind,
        directory,
        environment,
        jvmOptions,
        program.get(0),
        program.get(1),
        words(in),
        in.readUTF());
  }

  private static void words(DataOutput out, List<String> words) throws IOException {
    out.writeInt(words.size());
    for (String word : words) {
      byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
      out.writeInt(bytes.length);
      out.write(bytes);
    }
  }

  private static List<String> words(DataInput in) throws IOException {
    int count = count(in);
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] bytes = new byte[count(in)];
      in.readFully(bytes);
      words.add(new String(bytes, StandardCharsets.UTF_8));
    }
    return words;
  }

  private static int count(DataInput in) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > MAX_WORDS) {
      throw new IOException("a count of " + count + " in a plan");
    }
    return count;
  }
}
