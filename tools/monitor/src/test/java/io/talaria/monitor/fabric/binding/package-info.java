// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The binding, against the headers. */
package io.talaria.monitor.fabric.binding;
