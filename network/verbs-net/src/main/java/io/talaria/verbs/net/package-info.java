// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Connections, messages and remote memory on RDMA verbs, with send and receive threads. */
package io.talaria.verbs.net;
