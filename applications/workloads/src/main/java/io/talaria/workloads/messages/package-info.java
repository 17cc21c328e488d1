// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** {@code talaria example messages} and {@code talaria bench messages}. */
package io.talaria.workloads.messages;
