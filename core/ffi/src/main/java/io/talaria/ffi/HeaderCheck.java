// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Compares what a binding believes of C headers with what the C compiler says: constants, sizes of
 * structures and offsets of fields. For tests of bindings; needs gcc and the headers.
 *
 * <p>What newer headers alone have is added with a condition of the preprocessor and left out where
 * it does not hold. Not thread-safe.
 */
public final class HeaderCheck {
  private static final long COMPILER_SECONDS = 120;

  private final String includes;
  private final StringBuilder program = new StringBuilder();
  private final List<String> expressions = new ArrayList<>();
  private final List<Long> values = new ArrayList<>();

  /**
   * Starts a check.
   *
   * @param headers what to include, such as {@code ucp/api/ucp.h}
   */
  public HeaderCheck(String... headers) {
    StringBuilder lines = new StringBuilder("#include <stddef.h>\n#include <stdio.h>\n");
    for (String header : headers) {
      lines.append("#include <").append(header).append(">\n");
    }
    includes = lines.toString();
  }

  /**
   * Adds a structure: its size and the offset of each field.
   *
   * @param struct what the binding believes
   * @param condition when the headers have it, as in {@code #if}
   * @return this
   */
  public HeaderCheck struct(CStruct struct, String condition) {
    program.append("#if ").append(condition).append('\n');
    print("sizeof(" + struct.name() + ")", struct.sizeBytes());
    struct
        .offsets()
        .forEach(
            (field, offset) -> print("offsetof(" + struct.name() + ", " + field + ")", offset));
    program.append("#endif\n");
    return this;
  }

  /**
   * Adds a structure that later releases of the library lengthen at its end: the offset of each
   * field, and that it is at least as long as the binding believes.
   *
   * @param struct what the binding believes
   * @param condition when the headers have it, as in {@code #if}
   * @return this
   */
  public HeaderCheck growingStruct(CStruct struct, String condition) {
    program.append("#if ").append(condition).append('\n');
    print("sizeof(" + struct.name() + ") >= " + struct.sizeBytes(), 1);
    struct
        .offsets()
        .forEach(
            (field, offset) -> print("offsetof(" + struct.name() + ", " + field + ")", offset));
    program.append("#endif\n");
    return this;
  }

  /**
   * Adds an integer expression, such as the name of a constant.
   *
   * @param expression in C
   * @param value what the binding believes
   * @param condition when the headers have it, as in {@code #if}
   * @return this
   */
  public HeaderCheck constant(String expression, long value, String condition) {
    program.append("#if ").append(condition).append('\n');
    print(expression, value);
    program.append("#endif\n");
    return this;
  }

  private void print(String expression, long value) {
    program.append("  printf(\"").append(expressions.size()).append("=%lld\\n\", (long long)(");
    program.append(expression).append("));\n");
    expressions.add(expression);
    values.add(value);
  }

  /**
   * Whether the check can run.
   *
   * @return nothing, or why not
   * @throws IOException if temporary files cannot be made
   * @throws InterruptedException if the thread is interrupted
   */
  public Optional<String> unavailableReason() throws IOException, InterruptedException {
    try {
      run("int main(void) { return 0; }\n", false);
      return Optional.empty();
    } catch (CompilerException e) {
      return Optional.of(e.getMessage());
    }
  }

  /**
   * Compiles, runs and compares.
   *
   * @return what differs, a line each; empty if all is well
   * @throws IOException if the compiler fails or temporary files cannot be made
   * @throws InterruptedException if the thread is interrupted
   */
  public List<String> differences() throws IOException, InterruptedException {
    String main = "int main(void) {\n" + program + "  return 0;\n}\n";
    List<String> differences = new ArrayList<>();
    int compared = 0;
    for (String line : run(main, true).split("\n")) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        int index = Integer.parseInt(line.substring(0, equals));
        long said = Long.parseLong(line.substring(equals + 1));
        compared++;
        if (said != values.get(index)) {
          differences.add(
              expressions.get(index) + " is " + said + " in C, " + values.get(index) + " in Java");
        }
      }
    }
    if (compared == 0 && !expressions.isEmpty()) {
      differences.add("the program printed nothing");
    }
    return differences;
  }

  private String run(String main, boolean execute) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("talaria-header-check");
    Path source = directory.resolve("check.c");
    Path binary = directory.resolve("check");
    try {
      Files.writeString(source, includes + main);
      command("gcc", "-w", "-o", binary.toString(), source.toString());
      return execute ? command(binary.toString()) : "";
    } finally {
      Files.deleteIfExists(source);
      Files.deleteIfExists(binary);
      Files.deleteIfExists(directory);
    }
  }

  private static String command(String... words) throws IOException, InterruptedException {
    Process process;
    try {
      process = new ProcessBuilder(words).redirectErrorStream(true).start();
    } catch (IOException e) {
      throw new CompilerException(words[0] + " cannot be started: " + e.getMessage());
    }
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(COMPILER_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new CompilerException(words[0] + " took more than " + COMPILER_SECONDS + " s");
    }
    if (process.exitValue() != 0) {
      throw new CompilerException(words[0] + " failed: " + output.strip());
    }
    return output;
  }

  /** The compiler is missing or refuses. */
  private static final class CompilerException extends IOException {
    private static final long serialVersionUID = 1L;

    CompilerException(String message) {
      super(message);
    }
  }
}
