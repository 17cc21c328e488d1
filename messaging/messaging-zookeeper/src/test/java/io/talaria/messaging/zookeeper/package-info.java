// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of nodes that find each other by ZooKeeper. */
package io.talaria.messaging.zookeeper;
