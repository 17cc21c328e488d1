// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Latencies;
import java.io.StringReader;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class LatencyPictureTest {
  private static Histogram times(int count) {
    Histogram times = Latencies.histogram();
    for (int i = 1; i <= count; i++) {
      times.recordValue(1_000L * i);
    }
    return times;
  }

  private static String end(Element line) {
    String[] points = line.getAttribute("points").strip().split(" ");
    return points[points.length - 1].split(",")[0];
  }

  @Test
  void linesEndTogetherAndThePictureSaysWhatAndWhere() throws Exception {
    Map<Implementation, Histogram> times = new LinkedHashMap<>();
    times.put(Implementation.JDK, times(1_000));
    times.put(Implementation.TALARIA, times(100_000));
    String svg = LatencyPicture.svg("Echo <of> 16 B", "two cores; the machine was busy", times);
    Element picture =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(svg)))
            .getDocumentElement();
    NodeList lines = picture.getElementsByTagName("polyline");
    assertThat(lines.getLength()).isEqualTo(2);
    assertThat(end((Element) lines.item(0))).isEqualTo(end((Element) lines.item(1)));
    assertThat(picture.getElementsByTagName("title").item(0).getTextContent())
        .isEqualTo("Echo <of> 16 B, two cores; the machine was busy");
    assertThat(picture.getElementsByTagName("text").getLength()).isPositive();
  }

  @Test
  void eachLineStandsOutOnALightVariantAndOnADarkOne() {
    Map<Implementation, Histogram> times = new LinkedHashMap<>();
    times.put(Implementation.JDK, times(1_000));
    times.put(Implementation.TALARIA, times(1_000));
    String svg = LatencyPicture.svg("Echo", "two cores", times);
    Matcher dark =
        Pattern.compile("\\[stroke=\"(#\\w{6})\"\\] \\{ stroke: (#\\w{6}); \\}").matcher(svg);
    int colours = 0;
    while (dark.find()) {
      assertThat(contrast(dark.group(1), "#ffffff")).isGreaterThan(3);
      assertThat(contrast(dark.group(2), "#0d1117")).isGreaterThan(3);
      assertThat(svg).contains("<polyline class=\"line\" stroke=\"" + dark.group(1));
      colours++;
    }
    assertThat(colours).isEqualTo(2);
    assertThat(svg)
        .contains("@media (prefers-color-scheme: dark) {\nsvg { background: #0d1117; }")
        .contains("svg text { fill: #1c2530; }", "svg text { fill: #e6edf3; }");
    assertThat(contrast("#1c2530", "#ffffff")).isGreaterThan(7);
    assertThat(contrast("#e6edf3", "#0d1117")).isGreaterThan(7);
  }

  /** As the Web Content Accessibility Guidelines define it: 3 for lines, 7 for text. */
  private static double contrast(String one, String other) {
    double a = luminance(one);
    double b = luminance(other);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }

  private static double luminance(String colour) {
    double[] weights = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (int i = 0; i < weights.length; i++) {
      double part = Integer.parseInt(colour.substring(1 + 2 * i, 3 + 2 * i), 16) / 255.0;
      sum += weights[i] * (part <= 0.03928 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4));
    }
    return sum;
  }
}
