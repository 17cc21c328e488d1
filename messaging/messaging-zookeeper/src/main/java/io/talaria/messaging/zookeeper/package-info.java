// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Nodes that find each other by ZooKeeper. */
package io.talaria.messaging.zookeeper;
