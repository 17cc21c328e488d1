// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import static io.talaria.nio.transport.TransportStream.BROKEN;
import static io.talaria.nio.transport.TransportStream.END;
import static io.talaria.nio.transport.TransportStream.RESET;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * How a stream ends: what every fact means to readers and writers, alone and after every other one,
 * and which word counts where two contradict each other.
 */
@Timeout(60)
class EndStateTest {
  /** Each fact that a transport can tell. */
  enum Fact {
    NOTHING,
    FINISHED,
    ABORTED,
    READS_NO_MORE,
    LEFT_UNREAD,
    CLOSED,
    CLOSED_LEFT,
    CLOSED_RESET,
    LOST,
    LOST_LEFT,
    OWN_END,
    FAILED;

    void tell(EndState state) {
      switch (this) {
        case NOTHING -> {}
        case FINISHED -> state.peerFinished();
        case ABORTED -> state.peerAborted();
        case READS_NO_MORE -> state.peerReadsNoMore(false);
        case LEFT_UNREAD -> state.peerReadsNoMore(true);
        case CLOSED -> controlEnded(state, false, false);
        case CLOSED_LEFT -> controlEnded(state, false, true);
        case CLOSED_RESET -> controlEnded(state, true, false);
        case LOST -> state.outputLost(false);
        case LOST_LEFT -> state.outputLost(true);
        case OWN_END -> state.outputEnded();
        case FAILED -> state.fail();
      }
    }

    private static void controlEnded(EndState state, boolean byReset, boolean leftOurs) {
      boolean told = state.controlEnded(byReset, leftOurs);
      assertThat(told).isEqualTo(state.wasReset());
    }

    static EndState after(Fact... facts) {
      EndState state = new EndState();
      for (Fact fact : facts) {
        fact.tell(state);
      }
      return state;
    }
  }

  /** What follows, in one line: each answer that a transport can ask for. */
  private static String answers(Fact... facts) {
    return flags(Fact.after(facts))
        + " read "
        + name(Fact.after(facts).report(false))
        + "/"
        + name(Fact.after(facts).report(true))
        + " write "
        + writes(Fact.after(facts));
  }

  private static String flags(EndState state) {
    return (state.ended() ? "E" : "-")
        + (state.peerEnded() ? "P" : "-")
        + (state.ownOutputEnded() ? "O" : "-")
        + (state.nobodyReads() ? "N" : "-")
        + (state.noReaderLeft() ? "L" : "-")
        + (state.wasReset() ? "R" : "-");
  }

  private static String name(int reported) {
    return switch (reported) {
      case 0 -> "on";
      case END -> "end";
      case RESET -> "reset";
      default -> throw new AssertionError(reported);
    };
  }

  /** The first two writes to nobody. */
  private static String writes(EndState state) {
    List<String> found = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      found.add(
          switch (state.writeToNobody()) {
            case 0 -> "taken";
            case BROKEN -> "broken";
            case RESET -> "reset";
            default -> throw new AssertionError();
          });
    }
    return String.join(",", found);
  }

  /**
   * Flags: Ended, Peer has said how its output ends, Own output ended, Nobody reads, no reader
   * Left, was Reset. Then what an empty read finds while bytes before the end are to come, and once
   * all have come; then two writes that reach nobody.
   */
  @ParameterizedTest
  @CsvSource({
    "NOTHING,       '------ read on/on write taken,broken'",
    "FINISHED,      '-P---- read on/end write taken,broken'",
    "ABORTED,       '-P-NL- read on/reset write reset,broken'",
    "READS_NO_MORE, '---NL- read on/on write taken,broken'",
    "LEFT_UNREAD,   '---NL- read on/on write reset,broken'",
    "CLOSED,        'E--NL- read end/end write taken,broken'",
    "CLOSED_LEFT,   'E--NLR read reset/reset write reset,broken'",
    "CLOSED_RESET,  'E--NLR read reset/reset write reset,broken'",
    "LOST,          '---NL- read on/on write taken,broken'",
    "LOST_LEFT,     '---NLR read on/on write broken,broken'",
    "OWN_END,       '--ON-- read on/on write broken,broken'",
    "FAILED,        'E--NLR read reset/reset write broken,broken'",
  })
  void eachFactMeansWhatTcpMeansByIt(Fact fact, String expected) {
    assertThat(answers(fact)).isEqualTo(expected);
    assertThat(answers(fact, fact)).as("twice").isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    // The peer's first word about its output counts.
    "FINISHED,     ABORTED,      '-P---- read on/end write taken,broken'",
    "ABORTED,      FINISHED,     '-P-NL- read on/reset write reset,broken'",
    // What the peer has said stands before how the control connection ended; without its last
    // bytes that is a reset.
    "FINISHED,     CLOSED,       'EP-NL- read reset/end write taken,broken'",
    "FINISHED,     CLOSED_RESET, 'EP-NLR read reset/end write broken,broken'",
    "ABORTED,      CLOSED,       'EP-NL- read reset/reset write reset,broken'",
    // A word that comes behind the end of the control connection is still the peer's.
    "CLOSED,       FINISHED,     'EP-NL- read reset/end write taken,broken'",
    "CLOSED_RESET, FINISHED,     'EP-NLR read reset/end write broken,broken'",
    "CLOSED,       ABORTED,      'EP-NL- read reset/reset write reset,broken'",
    // The first end of the control connection counts.
    "CLOSED,       CLOSED_RESET, 'E--NL- read end/end write taken,broken'",
    "CLOSED,       CLOSED_LEFT,  'E--NL- read end/end write taken,broken'",
    "CLOSED_RESET, CLOSED,       'E--NLR read reset/reset write reset,broken'",
    "CLOSED_LEFT,  CLOSED,       'E--NLR read reset/reset write reset,broken'",
    // A lost output has told already what became of our bytes; a reset is told later, too.
    "LOST,         CLOSED_LEFT,  'E--NL- read end/end write taken,broken'",
    "LOST,         CLOSED_RESET, 'E--NLR read reset/reset write reset,broken'",
    "LOST_LEFT,    CLOSED,       'E--NLR read reset/reset write reset,broken'",
    "LOST,         LOST_LEFT,    '---NL- read on/on write taken,broken'",
    "LOST_LEFT,    LOST,         '---NLR read on/on write broken,broken'",
    // Nothing is lost behind the end.
    "CLOSED,       LOST_LEFT,    'E--NL- read end/end write taken,broken'",
    "FAILED,       LOST_LEFT,    'E--NLR read reset/reset write broken,broken'",
    // After a failure nothing else counts.
    "FAILED,       FINISHED,     'EP-NLR read reset/reset write broken,broken'",
    "FINISHED,     FAILED,       'EP-NLR read reset/reset write broken,broken'",
    "FAILED,       CLOSED,       'E--NLR read reset/reset write broken,broken'",
    "CLOSED,       FAILED,       'E--NLR read reset/reset write broken,broken'",
    // Our own end says nothing of the peer's, and the reverse.
    "OWN_END,      FINISHED,     '-PON-- read on/end write broken,broken'",
    "FINISHED,     OWN_END,      '-PON-- read on/end write broken,broken'",
    "READS_NO_MORE, FINISHED,    '-P-NL- read on/end write taken,broken'",
    "FINISHED,     LEFT_UNREAD,  '-P-NL- read on/end write broken,broken'",
    "READS_NO_MORE, LEFT_UNREAD, '---NL- read on/on write reset,broken'",
    "LEFT_UNREAD,  READS_NO_MORE, '---NL- read on/on write reset,broken'",
    "OWN_END,      CLOSED,       'E-ONL- read end/end write broken,broken'",
  })
  void ofTwoFactsTheRightOneCounts(Fact first, Fact second, String expected) {
    assertThat(answers(first, second)).isEqualTo(expected);
  }

  @Test
  void noFactTakesBackWhatAnotherHasTold() {
    for (Fact first : Fact.values()) {
      for (Fact second : Fact.values()) {
        for (Fact third : Fact.values()) {
          String before = flags(Fact.after(first, second));
          String after = flags(Fact.after(first, second, third));
          for (int i = 0; i < before.length(); i++) {
            assertThat(before.charAt(i) == '-' || after.charAt(i) == before.charAt(i))
                .as("%s after %s, %s: %s, then %s", third, first, second, before, after)
                .isTrue();
          }
        }
      }
    }
  }

  @Test
  void whatReadsHaveReportedStaysWhateverIsToldThen() {
    for (Fact last : Fact.values()) {
      EndState finished = Fact.after(Fact.FINISHED);
      assertThat(finished.reported()).isZero();
      assertThat(finished.report(true)).isEqualTo(END);
      last.tell(finished);
      assertThat(finished.report(false)).as("end, then " + last).isEqualTo(END);
      assertThat(finished.reported()).isEqualTo(END);

      EndState reset = Fact.after(Fact.CLOSED_RESET);
      assertThat(reset.report(false)).isEqualTo(RESET);
      last.tell(reset);
      assertThat(reset.report(true)).as("reset, then " + last).isEqualTo(RESET);
    }
  }

  @Test
  void aReadThatFindsNothingYetReportsNothing() {
    EndState state = Fact.after(Fact.FINISHED);
    assertThat(state.report(false)).isZero();
    assertThat(state.reported()).isZero();
    assertThat(state.report(true)).isEqualTo(END);
  }

  @Test
  void aWriteThatWasTakenIsNotTakenAgainAfterOtherFacts() {
    EndState state = Fact.after(Fact.READS_NO_MORE);
    assertThat(state.writeToNobody()).isZero();
    Fact.CLOSED.tell(state);
    assertThat(state.writeToNobody()).isEqualTo(BROKEN);
  }

  @Test
  void aResetIsToldOnceToReadOrWrite() {
    for (Fact fact : List.of(Fact.ABORTED, Fact.CLOSED_LEFT, Fact.CLOSED_RESET)) {
      EndState written = Fact.after(fact);
      assertThat(written.writeToNobody()).isEqualTo(RESET);
      assertThat(written.writeToNobody()).isEqualTo(BROKEN);
      assertThat(written.report(true)).isEqualTo(END);

      EndState read = Fact.after(fact);
      assertThat(read.report(true)).isEqualTo(RESET);
      assertThat(read.writeToNobody()).isEqualTo(BROKEN);
      assertThat(read.report(true)).isEqualTo(RESET);
    }
  }
}
