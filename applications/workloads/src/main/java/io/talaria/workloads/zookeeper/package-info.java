// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** A ZooKeeper server under the workloads of YCSB, on both transports. */
package io.talaria.workloads.zookeeper;
