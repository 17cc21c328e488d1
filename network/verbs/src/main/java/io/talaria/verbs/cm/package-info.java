// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** RDMA CM: connections by address and port, made by librdmacm. */
package io.talaria.verbs.cm;
