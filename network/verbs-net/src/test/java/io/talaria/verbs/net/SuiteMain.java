// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs the suite, or the classes that are named, on the first RDMA device of this host, which the
 * property {@code talaria.verbs.variant=device} must ask for. Ends with 1 if a test fails or none
 * runs.
 */
public final class SuiteMain {
  private static final Class<?>[] SUITE = {
    MessagesTest.class,
    RemoteMemoryTest.class,
    ProducersTest.class,
    HandlersTest.class,
    CreditsTest.class,
    HandshakeTest.class,
    HostilePeerTest.class,
    ClosingTest.class,
    CmTest.class,
    TwoSidesTest.class,
    FaultsTest.class,
    AllocationTest.class
  };

  private SuiteMain() {}

  /** Runs the suite, or classes by their full names. */
  public static void main(String[] args) {
    LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
    for (String name : args) {
      request.selectors(DiscoverySelectors.selectClass(name));
    }
    if (args.length == 0) {
      for (Class<?> type : SUITE) {
        request.selectors(DiscoverySelectors.selectClass(type));
      }
    }
    request.filters(TagFilter.excludeTags("long"));
    LauncherDiscoveryRequest suite = request.build();
    SummaryGeneratingListener summary = new SummaryGeneratingListener();
    LauncherFactory.create().execute(suite, summary, new Progress());
    summary
        .getSummary()
        .printFailuresTo(new PrintWriter(System.out, true, StandardCharsets.UTF_8), 30);
    long ran = summary.getSummary().getTestsSucceededCount();
    long failed = summary.getSummary().getTotalFailureCount();
    long aborted = summary.getSummary().getTestsAbortedCount();
    System.out.println(
        "suite on a device: " + ran + " passed, " + failed + " failed, " + aborted + " skipped");
    System.exit(failed > 0 || ran == 0 ? 1 : 0);
  }

  /** A line for each test, because some take long. */
  private static final class Progress implements TestExecutionListener {
    private long beganNs;

    @Override
    public void executionStarted(TestIdentifier test) {
      beganNs = System.nanoTime();
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      if (test.isTest()) {
        System.out.println(
            result.getStatus()
                + " "
                + test.getDisplayName()
                + " "
                + (System.nanoTime() - beganNs) / 1_000_000
                + " ms"
                + result.getThrowable().map(thrown -> ": " + thrown).orElse(""));
      }
    }
  }
}
