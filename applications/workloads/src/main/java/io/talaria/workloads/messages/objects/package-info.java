// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The objects that are sent, and the tally of those that have come. */
package io.talaria.workloads.messages.objects;
