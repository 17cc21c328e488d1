// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.plan.SocketTransport;
import io.talaria.bench.result.Results;
import io.talaria.bench.result.Row;
import io.talaria.bench.result.Rows;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class HtmlReportTest {
  /**
   * Throughput: messages and bytes by size, messages by connections. Round trips, in two sections:
   * median and 99 % by size and by connections, and two distributions.
   */
  private static final int PICTURES = 3 + 2 * 6;

  private static List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (SocketTransport transport : List.of(SocketTransport.TCP, SocketTransport.SHM)) {
      for (int size : new int[] {1, 16, 1 << 20}) {
        for (int connections : new int[] {1, 8}) {
          rows.add(Rows.throughput(transport, size, connections, 1));
          rows.add(Rows.throughput(transport, size, connections, 2));
          rows.add(Rows.roundTrips(transport, size, connections, 0));
          rows.add(Rows.roundTrips(transport, size, connections, 500));
        }
      }
    }
    return rows;
  }

  private static Results results(String name) {
    return new Results(name, List.of("CPU  \"x\" <&>"), rows(), List.of("netty: a < b"));
  }

  private static String page() {
    return new HtmlReport("A & <b>", List.of(results("one"))).page();
  }

  private static Document parse(String page) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(page)));
  }

  @Test
  void thePageIsWellFormedAndHasAllPictures() throws Exception {
    Document page = parse(page());
    assertThat(page.getElementsByTagName("svg").getLength()).isEqualTo(PICTURES);
    assertThat(page.getElementsByTagName("table").getLength()).isEqualTo(3);
    assertThat(page.getElementsByTagName("li").item(0).getTextContent()).isEqualTo("netty: a < b");
  }

  @Test
  void eachPictureCanStandAlone() throws Exception {
    Map<String, String> pictures = new HtmlReport("one", List.of(results("one"))).pictures();
    assertThat(pictures)
        .hasSize(PICTURES)
        .containsKeys(
            "throughput-one-way-messages-a-second-by-size-1-connection",
            "throughput-one-way-bytes-a-second-by-size-1-connection");
    for (String picture : pictures.values()) {
      Element svg = parse(picture).getDocumentElement();
      assertThat(svg.getTagName()).isEqualTo("svg");
      assertThat(svg.getElementsByTagName("style").getLength()).isEqualTo(1);
    }
  }

  @Test
  void thePageNeedsNothingFromElsewhere() {
    String page = page().replace("http://www.w3.org/2000/svg", "");
    assertThat(page.replace("http://www.w3.org/1999/xhtml", ""))
        .doesNotContain("http:", "https:", "<script", "<link", "@import", "url(", "src=");
  }

  @Test
  void whatIsDrawnStaysInsideItsPicture() throws Exception {
    NodeList pictures = parse(page()).getElementsByTagName("svg");
    for (int i = 0; i < pictures.getLength(); i++) {
      Element picture = (Element) pictures.item(i);
      String[] box = picture.getAttribute("viewBox").split(" ");
      NodeList lines = picture.getElementsByTagName("polyline");
      assertThat(lines.getLength()).isPositive();
      for (int j = 0; j < lines.getLength(); j++) {
        for (String point : ((Element) lines.item(j)).getAttribute("points").strip().split(" ")) {
          String[] xy = point.split(",");
          assertThat(Double.parseDouble(xy[0])).isBetween(0.0, Double.parseDouble(box[2]));
          assertThat(Double.parseDouble(xy[1])).isBetween(0.0, Double.parseDouble(box[3]));
        }
      }
    }
  }

  @Test
  void repetitionsHaveBarsForTheirDeviation() {
    assertThat(page()).contains("class=\"bar\"").contains(" ± ");
  }

  @Test
  void aLibraryHasAHueAndATransportALineStyle() throws Exception {
    String picture =
        new HtmlReport("one", List.of(results("one")))
            .pictures()
            .get("throughput-one-way-messages-a-second-by-size-1-connection");
    NodeList lines = parse(picture).getElementsByTagName("polyline");
    assertThat(lines.getLength()).isEqualTo(2);
    Element tcp = (Element) lines.item(0);
    Element shm = (Element) lines.item(1);
    assertThat(tcp.getAttribute("stroke")).isEqualTo(shm.getAttribute("stroke"));
    assertThat(tcp.getAttribute("stroke-dasharray")).isNotEmpty();
    assertThat(shm.getAttribute("stroke-dasharray")).isEmpty();
  }

  @Test
  void theTableComparesWithTcpAndNamesAreExplained() {
    assertThat(page())
        .contains("<th>ratio to JDK sockets</th>", "<td>1.00×</td>")
        .contains("<dt>nio</dt><dd>SocketChannel, blocking", "<dt>shm</dt><dd>Talaria on shared")
        .contains("<dt>wire / payload</dt>")
        .doesNotContain("<dt>netty</dt>");
  }

  @Test
  void ofWhatIsNotThereNothingIsSaid() {
    Results once =
        new Results(
            "one", List.of(), List.of(Rows.throughput(SocketTransport.SHM, 1, 1, 1)), List.of());
    assertThat(new HtmlReport("one", List.of(once)).page())
        .doesNotContain("standard deviation", "ratio to JDK sockets</th>", "class=\"bar\"");
  }

  @Test
  void runsStandSideBySide() throws Exception {
    String page = new HtmlReport("two", List.of(results("one"), results("other"))).page();
    assertThat(page).contains("Run 1: one", "Run 2: other");
    Document parsed = parse(page);
    assertThat(parsed.getElementsByTagName("svg").getLength()).isEqualTo(PICTURES);
    assertThat(page).contains(">nio tcp, run 1<", ">nio shm, run 2<");
  }

  @Test
  void aReportOfNothingIsAPageToo() throws Exception {
    String page = new HtmlReport("empty", List.of()).page();
    assertThat(parse(page).getElementsByTagName("svg").getLength()).isZero();
  }
}
