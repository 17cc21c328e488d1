// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Carries out the lines of a small command language on a store. Used by one thread. */
final class Shell {
  private static final String HELP =
      """
      insert KEY FIELD=VALUE...   add a record
      update KEY FIELD=VALUE...   set some fields of a record
      get KEY [FIELD...]          show a record, or some fields of it
      delete KEY                  remove a record
      scan KEY COUNT              show records in the order of keys, from KEY on
      help                        show this
      quit                        end; so does the end of the input
      Words with spaces stand in quotes: insert 7 "name=Ada Lovelace"\
      """;

  private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(\\S+)");

  private final KvsClient client;

  Shell(KvsClient client) {
    this.client = client;
  }

  /**
   * What came of a line.
   *
   * @param done whether it was carried out
   * @param text what to show; may be empty
   * @param end whether it was the last line
   */
  record Answer(boolean done, String text, boolean end) {
    static Answer ok(String text) {
      return new Answer(true, text, false);
    }

    static Answer error(String text) {
      return new Answer(false, text, false);
    }
  }

  /** Carries out one line. */
  Answer execute(String line) {
    List<String> words = words(line);
    if (words.isEmpty() || words.getFirst().startsWith("#")) {
      return Answer.ok("");
    }
    List<String> rest = words.subList(1, words.size());
    try {
      return switch (words.getFirst()) {
        case "insert" -> {
          client.insert(row("insert", rest));
          yield Answer.ok("inserted");
        }
        case "update" -> {
          client.update(row("update", rest));
          yield Answer.ok("updated");
        }
        case "get" -> {
          need(!rest.isEmpty(), "get KEY [FIELD...]");
          yield Answer.ok(show(client.get(rest.getFirst(), rest.subList(1, rest.size()))));
        }
        case "delete" -> {
          need(rest.size() == 1, "delete KEY");
          client.delete(rest.getFirst());
          yield Answer.ok("deleted");
        }
        case "scan" -> Answer.ok(scan(rest));
        case "help" -> Answer.ok(HELP);
        case "quit" -> new Answer(true, "", true);
        default ->
            Answer.error("there is no command '" + words.getFirst() + "'; 'help' lists them");
      };
    } catch (KvsException | IllegalArgumentException e) {
      return Answer.error(e.getMessage());
    }
  }

  private static List<String> words(String line) {
    List<String> words = new ArrayList<>();
    Matcher matcher = WORD.matcher(line);
    while (matcher.find()) {
      words.add(matcher.group(1) == null ? matcher.group(2) : matcher.group(1));
    }
    return words;
  }

  private static Row row(String command, List<String> words) {
    String usage = command + " KEY FIELD=VALUE...";
    need(words.size() >= 2, usage);
    Map<String, ByteString> fields = new LinkedHashMap<>();
    for (String word : words.subList(1, words.size())) {
      int sign = word.indexOf('=');
      need(sign > 0, usage + ", not '" + word + "'");
      fields.put(word.substring(0, sign), ByteString.copyFromUtf8(word.substring(sign + 1)));
    }
    return new Row(words.getFirst(), fields);
  }

  private String scan(List<String> words) throws KvsException {
    String usage = "scan KEY COUNT, a count from 1 to " + KvsProtocol.MAX_SCAN;
    need(words.size() == 2, usage);
    int count;
    try {
      count = Integer.parseInt(words.get(1));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("usage: " + usage + ", not '" + words.get(1) + "'", e);
    }
    need(count >= 1 && count <= KvsProtocol.MAX_SCAN, usage + ", not " + count);
    StringJoiner lines = new StringJoiner("\n");
    for (Row row : client.scan(words.getFirst(), count, List.of())) {
      lines.add(row.key() + ": " + show(row));
    }
    return lines.toString();
  }

  private static void need(boolean fits, String usage) {
    if (!fits) {
      throw new IllegalArgumentException("usage: " + usage);
    }
  }

  private static String show(Row row) {
    StringJoiner fields = new StringJoiner(" ");
    row.fields()
        .forEach(
            (name, value) ->
                fields.add(
                    name
                        + "="
                        + (value.isValidUtf8() ? value.toStringUtf8() : value.size() + " bytes")));
    return fields.toString();
  }
}
