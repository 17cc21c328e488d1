// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.harness.Quantity;
import java.io.StringReader;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class SizesPictureTest {
  @Test
  void eachLineGoesFromTheSmallestSizeToTheLargest() throws Exception {
    List<SizesPicture.Line> lines =
        List.of(
            new SizesPicture.Line("shm", 0, 0, Map.of(1024, 5e5, 16, 1e6, 64, 9e5)),
            new SizesPicture.Line("stream", 0, 1, Map.of(16, 1e5, 1024, 2e5)));
    String svg = SizesPicture.svg("one <way>", Quantity.PER_SECOND, lines);
    Element picture =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(svg)))
            .getDocumentElement();
    assertThat(picture.getElementsByTagName("title").item(0).getTextContent())
        .isEqualTo("one <way>");
    NodeList drawn = picture.getElementsByTagName("polyline");
    assertThat(drawn.getLength()).isEqualTo(2);
    double before = -1;
    for (String point : ((Element) drawn.item(0)).getAttribute("points").strip().split(" ", -1)) {
      double across = Double.parseDouble(point.split(",", -1)[0]);
      assertThat(across).isGreaterThan(before);
      before = across;
    }
    assertThat(svg).contains("stroke-dasharray");
  }
}
