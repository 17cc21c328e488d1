// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkloadFileTest {
  @ParameterizedTest
  @CsvSource({"a,false", "b,false", "c,false", "d,false", "e,true", "f,false"})
  void standardWorkloadsAreSound(String name, boolean scans) throws Exception {
    Map<String, String> workload = new TreeMap<>(WorkloadFile.read(name, "kvs"));
    workload.put(WorkloadFile.RECORDS, "100");
    workload.put(WorkloadFile.OPERATIONS, "100");
    workload.put(WorkloadFile.FIELDS, "1");
    workload.put(WorkloadFile.FIELD_LENGTH, "16");
    WorkloadFile.check(workload);
    assertThat(WorkloadFile.scans(workload)).isEqualTo(scans);
  }

  @Test
  void blanksBehindANumberAreNoPartOfIt(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("mine"), "recordcount=1000 \n");
    assertThat(WorkloadFile.read(file.toString(), "kvs"))
        .containsEntry(WorkloadFile.RECORDS, "1000");
  }
}
