// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The ways for objects from one JVM to another, each with both of its ends. */
package io.talaria.workloads.messages.wire;
