// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Examples of RDMA verbs from Java: {@code ./talaria verbs-example}. */
package io.talaria.verbs.examples;
