// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

/**
 * What a node has done so far. The numbers are read one after the other, while the threads
 * continue.
 *
 * @param connections how many are open
 * @param opened how many connections were opened
 * @param refused how many handshakes of others failed or were refused
 * @param messagesOut messages posted, large ones included
 * @param posts calls that posted requests
 * @param posted requests that they posted: divided by the former, the length of chains
 * @param creditMessages messages sent only to give credit
 * @param creditStalls sends refused because the peer had no receive request
 * @param roomStalls sends and operations refused because too many were under way
 * @param sliceStalls borrows refused because no slice was free
 * @param slicesOut slices that are borrowed or under way
 * @param failedRequests requests that ended in an error
 * @param messagesIn messages received
 * @param refills calls that posted receive requests
 * @param lateRefills how often fewer receive requests were posted than used, because handlers keep
 *     messages; their credit waits
 * @param largeIn large messages received
 * @param handlerFailures how often a handler or listener has thrown
 * @param blockedHandlers how often a look each second saw a thread in handlers since a second
 * @param sleeps how often a thread slept
 */
public record Metrics(
    long connections,
    long opened,
    long refused,
    long messagesOut,
    long posts,
    long posted,
    long creditMessages,
    long creditStalls,
    long roomStalls,
    long sliceStalls,
    long slicesOut,
    long failedRequests,
    long messagesIn,
    long refills,
    long lateRefills,
    long largeIn,
    long handlerFailures,
    long blockedHandlers,
    long sleeps) {}
