// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.bench.plan.SocketTransport;
import io.talaria.bench.result.Results;
import io.talaria.bench.result.Rows;
import io.talaria.testsupport.ChildProcess;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page in a real browser, if Chromium is installed. */
@Timeout(120)
class BrowserTest {
  /** Writes what the browser has laid out to where it can be read from outside. */
  private static final String PROBE =
      """
      <script>
      addEventListener('load', () => {
        let clipped = 0;
        for (const svg of document.querySelectorAll('svg')) {
          const box = svg.viewBox.baseVal;
          for (const text of svg.querySelectorAll('text')) {
            const at = text.getBoundingClientRect(), all = svg.getBoundingClientRect();
            const slack = 0.5 * all.width / box.width;
            if (at.left < all.left - slack || at.right > all.right + slack
                || at.top < all.top - slack || at.bottom > all.bottom + slack) clipped++;
          }
        }
        document.title = 'wide=' + (document.documentElement.scrollWidth - innerWidth)
            + ' clipped=' + clipped + ' texts=' + document.querySelectorAll('svg text').length;
      });
      </script></body>
      """;

  @TempDir private Path folder;

  private static String chromium() {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .flatMap(entry -> Stream.of(Path.of(entry, "chromium"), Path.of(entry, "google-chrome")))
        .filter(Files::isExecutable)
        .map(Path::toString)
        .findFirst()
        .orElse(null);
  }

  private static String page() {
    Results one =
        new Results(
            "one",
            List.of("CPU  " + "a very long name of a processor ".repeat(8)),
            List.of(
                Rows.throughput(SocketTransport.TCP, 1, 1, 1),
                Rows.throughput(SocketTransport.SHM, 1 << 20, 1, 1),
                Rows.roundTrips(SocketTransport.TCP, 16, 1, 0),
                Rows.roundTrips(SocketTransport.SHM, 16, 8, 0)),
            List.of());
    return new HtmlReport("In a browser", List.of(one, one)).page();
  }

  private String browse(String... more) throws Exception {
    String program = chromium();
    assumeTrue(program != null, "Chromium is not installed");
    Path file = Files.writeString(folder.resolve("page.html"), page().replace("</body>", PROBE));
    List<Object> words =
        new ArrayList<>(
            List.of(
                program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--user-data-dir=" + folder.resolve("profile")));
    words.addAll(List.of(more));
    words.add(file.toUri());
    return ChildProcess.command(words.toArray()).run(Duration.ofSeconds(60)).outText();
  }

  @ParameterizedTest
  @ValueSource(ints = {1280, 500})
  void nothingIsWiderThanTheWindowAndNoTextIsClipped(int width) throws Exception {
    assertThat(browse("--window-size=" + width + ",900", "--dump-dom"))
        .containsPattern("<title>wide=(-\\d+|0) clipped=0 texts=[1-9]");
  }

  @Test
  void thePageCanBePrinted() throws Exception {
    Path pdf = folder.resolve("page.pdf");
    browse("--print-to-pdf=" + pdf);
    assertThat(Files.readString(pdf, java.nio.charset.StandardCharsets.ISO_8859_1))
        .startsWith("%PDF-")
        .contains("/Type /Page");
  }
}
