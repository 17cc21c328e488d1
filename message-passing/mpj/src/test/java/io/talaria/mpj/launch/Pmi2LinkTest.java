// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What is said to a launcher that speaks PMI-2, and what it may not answer. */
class Pmi2LinkTest {
  private static final String HANDSHAKE =
      "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"
          + framed("cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=3;size=4;");

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  private static String framed(String message) {
    return (message.length() + "      ").substring(0, 6) + message;
  }

  private Pmi2Link link(String answers) throws IOException {
    byte[] bytes = answers.getBytes(StandardCharsets.US_ASCII);
    return new Pmi2Link(new ByteArrayInputStream(bytes), said, "77.0", 3);
  }

  private String said() {
    String text = said.toString(StandardCharsets.US_ASCII);
    said.reset();
    return text;
  }

  @Test
  void textsArePutFencedAndGot() throws Exception {
    Pmi2Link link =
        link(
            HANDSHAKE
                + framed("cmd=kvs-put-response;rc=0;")
                + framed("cmd=kvs-fence-response;rc=0;")
                + framed("cmd=kvs-get-response;rc=0;found=TRUE;value=e6120623d63;")
                + framed("cmd=finalize-response;rc=0;"));
    assertThat(said())
        .isEqualTo(
            "cmd=init pmi_version=2 pmi_subversion=0\n"
                + framed("cmd=fullinit;pmijobid=77.0;pmirank=3;threaded=FALSE;"));
    link.put("rankAddress3", "a b=c");
    assertThat(said()).isEqualTo(framed("cmd=kvs-put;key=rankAddress3-0;value=e6120623d63;"));
    link.barrier();
    assertThat(said()).isEqualTo(framed("cmd=kvs-fence;"));
    assertThat(link.get("rankAddress3")).isEqualTo("a b=c");
    assertThat(said()).isEqualTo(framed("cmd=kvs-get;jobid=;srcid=-1;key=rankAddress3-0;"));
    link.end();
    assertThat(said()).isEqualTo(framed("cmd=finalize;"));
    link.abort(9);
    assertThat(said()).isEqualTo(framed("cmd=abort;isworld=TRUE;msg=status 9;"));
  }

  @Test
  void ranksMeetByWhatTheyGet() throws Exception {
    String put = framed("cmd=kvs-put-response;rc=0;");
    String fence = framed("cmd=kvs-fence-response;rc=0;");
    String got = framed("cmd=kvs-get-response;rc=0;found=TRUE;value=e;");
    Pmi2Link last = link(HANDSHAKE + put + fence + fence + got);
    String unused = said();
    last.meet(3, 4);
    assertThat(said())
        .isEqualTo(
            framed("cmd=kvs-put;key=here3-0;value=e;")
                + framed("cmd=kvs-fence;")
                + framed("cmd=kvs-fence;")
                + framed("cmd=kvs-get;jobid=;srcid=-1;key=all-here-0;"));
    Pmi2Link first = link(HANDSHAKE + put + fence + got + got + put + fence);
    unused = said();
    first.meet(0, 3);
    assertThat(said())
        .isEqualTo(
            framed("cmd=kvs-put;key=here0-0;value=e;")
                + framed("cmd=kvs-fence;")
                + framed("cmd=kvs-get;jobid=;srcid=-1;key=here1-0;")
                + framed("cmd=kvs-get;jobid=;srcid=-1;key=here2-0;")
                + framed("cmd=kvs-put;key=all-here-0;value=e;")
                + framed("cmd=kvs-fence;"));
  }

  @Test
  void whatIsNoAnswerIsNamed() throws Exception {
    assertThatThrownBy(() -> link("")).hasMessageContaining("has ended its link");
    assertThatThrownBy(() -> link("HTTP/1.1 400 Bad Request\n"))
        .hasMessageContaining("«HTTP/1.1 400 Bad Request» to «cmd=init");
    assertThatThrownBy(() -> link("cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=1\n"))
        .hasMessageContaining("rc=-1");
    assertThatThrownBy(() -> link("x".repeat(2_000))).hasMessageContaining("longer than 1024");
    Pmi2Link missing = link(HANDSHAKE + framed("cmd=kvs-get-response;rc=0;found=FALSE;"));
    assertThatThrownBy(() -> missing.get("x")).hasMessageContaining("has no value of x-0");
    Pmi2Link failing = link(HANDSHAKE + framed("cmd=kvs-put-response;rc=14;errmsg=full;"));
    assertThatThrownBy(() -> failing.put("x", "y")).hasMessageContaining("errmsg=full");
    Pmi2Link lying = link(HANDSHAKE + "999999cmd=");
    assertThatThrownBy(lying::barrier).hasMessageContaining("«999999»");
    Pmi2Link cut = link(HANDSHAKE + "100   cmd=");
    assertThatThrownBy(cut::barrier).hasMessageContaining("has ended its link");
  }
}
