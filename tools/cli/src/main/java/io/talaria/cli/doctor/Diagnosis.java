// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor;

import io.talaria.cli.doctor.checks.BetweenHostsChecks;
import io.talaria.cli.doctor.checks.DirectoryChecks;
import io.talaria.cli.doctor.checks.Finding;
import io.talaria.cli.doctor.checks.Findings;
import io.talaria.cli.doctor.checks.HostChecks;
import io.talaria.cli.doctor.checks.JavaChecks;
import io.talaria.cli.doctor.checks.JucxChecks;
import io.talaria.cli.doctor.checks.MpjChecks;
import io.talaria.cli.doctor.checks.NetworkChecks;
import io.talaria.cli.doctor.checks.RdmaChecks;
import io.talaria.cli.doctor.checks.Surroundings;
import io.talaria.cli.harness.AgentJar;
import io.talaria.nio.config.Config;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The findings of all checks.
 *
 * @param findings in the order of the checks
 */
record Diagnosis(List<Finding> findings) {

  /** Runs all checks. */
  static Diagnosis of(Surroundings here) {
    List<Finding> findings = new ArrayList<>();
    findings.add(JavaChecks.running());
    if (!AgentJar.inRelease()) { // where there are no tests
      findings.add(JavaChecks.seventeen(here.jdkHomes()));
    }
    findings.addAll(
        List.of(
            JavaChecks.agent(here.agent()),
            DirectoryChecks.runtimeDirectory(here),
            DirectoryChecks.peerCredentials(here),
            DirectoryChecks.sharedMemory(here),
            HostChecks.cores(here),
            HostChecks.bootId(here),
            HostChecks.networkNamespace(),
            HostChecks.mappings(here),
            HostChecks.openFiles(here),
            NetworkChecks.ucx(here),
            JucxChecks.jucx(Config.load().jucx(), System::getenv),
            NetworkChecks.infiniband(here),
            MpjChecks.devices(here, Runtime.version().feature())));
    findings.addAll(RdmaChecks.all(here));
    findings.addAll(BetweenHostsChecks.all(here));
    return new Diagnosis(List.copyOf(findings));
  }

  /** Whether connections between two processes of this user can use shared memory. */
  boolean sharedMemoryWorks() {
    return findings.stream().noneMatch(Finding::isFatal);
  }

  /** The findings as text for the user, each line ended by a line feed. */
  String text() {
    return Findings.text(findings) + "\n" + verdict() + "\n";
  }

  private String verdict() {
    if (sharedMemoryWorks()) {
      return "Connections between processes of this user on this host can use shared memory.";
    }
    List<String> names = findings.stream().filter(Finding::isFatal).map(Finding::name).toList();
    return "Connections stay on TCP until this is mended: " + String.join(", ", names) + ".";
  }

  /** The findings for machines. */
  Map<String, Object> tree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("sharedMemoryWorks", sharedMemoryWorks());
    tree.put("checks", Findings.tree(findings));
    return tree;
  }
}
