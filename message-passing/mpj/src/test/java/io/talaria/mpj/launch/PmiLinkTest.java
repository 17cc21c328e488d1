// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What is said to a launcher that speaks PMI-1, and what it may not answer. */
class PmiLinkTest {
  private static final String HANDSHAKE =
      """
      cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0
      cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=12
      cmd=my_kvsname kvsname=kvs_7
      """;

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  private PmiLink link(String answers) throws IOException {
    return new PmiLink(new ByteArrayInputStream(answers.getBytes(StandardCharsets.US_ASCII)), said);
  }

  private String said() {
    String text = said.toString(StandardCharsets.US_ASCII);
    said.reset();
    return text;
  }

  @Test
  void textsTravelInPiecesWithoutSpaces() throws Exception {
    String ok = "cmd=put_result rc=0 msg=success\n";
    PmiLink link =
        link(
            HANDSHAKE
                + ok
                + ok
                + "cmd=barrier_out\n"
                + "cmd=get_result rc=0 msg=success value=m6120623d63\n"
                + "cmd=get_result rc=0 msg=success value=e0a\n"
                + "cmd=finalize_ack\n");
    assertThat(said())
        .isEqualTo("cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\ncmd=get_my_kvsname\n");
    link.put("rankAddress3", "a b=c\n");
    assertThat(said())
        .isEqualTo(
            "cmd=put kvsname=kvs_7 key=rankAddress3-0 value=m6120623d63\n"
                + "cmd=put kvsname=kvs_7 key=rankAddress3-1 value=e0a\n");
    link.barrier();
    assertThat(said()).isEqualTo("cmd=barrier_in\n");
    assertThat(link.get("rankAddress3")).isEqualTo("a b=c\n");
    assertThat(said())
        .isEqualTo(
            "cmd=get kvsname=kvs_7 key=rankAddress3-0\ncmd=get kvsname=kvs_7 key=rankAddress3-1\n");
    link.end();
    assertThat(said()).isEqualTo("cmd=finalize\n");
    link.abort(9);
    assertThat(said()).isEqualTo("cmd=abort exitcode=9\n");
  }

  @Test
  void anEmptyTextIsOnePiece() throws Exception {
    PmiLink link = link(HANDSHAKE + "cmd=put_result rc=0\n" + "cmd=get_result rc=0 value=e\n");
    said();
    link.put("x", "");
    assertThat(said()).isEqualTo("cmd=put kvsname=kvs_7 key=x-0 value=e\n");
    assertThat(link.get("x")).isEmpty();
  }

  @Test
  void whatIsNoAnswerIsNamed() throws Exception {
    assertThatThrownBy(() -> link("")).hasMessageContaining("has ended its link");
    assertThatThrownBy(() -> link("HTTP/1.1 400 Bad Request\n"))
        .hasMessageContaining("«HTTP/1.1 400 Bad Request» to «cmd=init");
    assertThatThrownBy(() -> link("cmd=response_to_init pmi_version=2 rc=-1\n"))
        .hasMessageContaining("rc=-1");
    assertThatThrownBy(() -> link(HANDSHAKE.replace("vallen_max=12", "vallen_max=many")))
        .hasMessageContaining("vallen_max=many");
    assertThatThrownBy(() -> link(HANDSHAKE.replace("kvsname=kvs_7", "name=kvs_7")))
        .hasMessageContaining("has no kvsname");
    PmiLink link = link(HANDSHAKE + "cmd=get_result rc=0 value=nonsense\n");
    assertThatThrownBy(() -> link.get("x")).hasMessageContaining("says nonsense for x");
    PmiLink missing = link(HANDSHAKE + "cmd=get_result rc=-1 msg=key_x_not_found\n");
    assertThatThrownBy(() -> missing.get("x")).hasMessageContaining("key_x_not_found");
  }

  @Test
  void aLauncherThatWasConnectedToIsToldWhoSpeaks() throws Exception {
    String answers = "cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n";
    PmiLink link =
        PmiLink.handshake(
            new ByteArrayInputStream((answers + HANDSHAKE).getBytes(StandardCharsets.US_ASCII)),
            said,
            3);
    assertThat(said()).startsWith("cmd=initack pmiid=3\ncmd=init pmi_version=1");
    assertThat(link.size()).isEqualTo(4);
    assertThat(link.rank()).isEqualTo(3);
    link.close();
  }
}
