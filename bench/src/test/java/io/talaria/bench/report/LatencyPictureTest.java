// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Latencies;
import java.io.StringReader;
import java.util.LinkedHashMap;
import java.util.Map;
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
    Map<Contender, Histogram> times = new LinkedHashMap<>();
    times.put(Contender.JDK, times(1_000));
    times.put(Contender.TALARIA, times(100_000));
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
}
