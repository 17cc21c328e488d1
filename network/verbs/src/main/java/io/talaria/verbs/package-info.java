// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** RDMA verbs: devices, memory, queues and what is posted to them. */
package io.talaria.verbs;
