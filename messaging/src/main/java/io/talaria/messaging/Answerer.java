// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * Answers requests of one type.
 *
 * @param <Q> the type of the questions
 */
@FunctionalInterface
public interface Answerer<Q> {
  /**
   * Takes a question. The answer may be given here, or later by any thread.
   *
   * @throws Exception of any kind: whoever asked gets FAILED_THERE with its class and text
   */
  void answer(Q question, Request request) throws Exception;
}
