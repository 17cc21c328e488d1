// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.talaria.cli.harness.HostPort;
import java.util.List;

/**
 * What a shell is told; a server needs no more than where to listen.
 *
 * @param servers where the servers are
 */
record KvsJob(List<HostPort> servers) {}
