// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The Java agent that switches Talaria on in a JVM. */
package io.talaria.agent;
