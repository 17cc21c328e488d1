// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * A key-value store over gRPC: records of named fields in the memory of one or several servers,
 * which clients choose by the key's hash.
 */
package io.talaria.workloads.kvs;
