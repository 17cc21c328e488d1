// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.reader;

import java.util.List;

/**
 * What the counters files of a directory say.
 *
 * @param processes the processes that live, or that cannot be judged from this pid namespace, by
 *     process id
 * @param problems what could not be read, a sentence each
 */
public record DirectoryReport(List<ProcessInfo> processes, List<String> problems) {}
