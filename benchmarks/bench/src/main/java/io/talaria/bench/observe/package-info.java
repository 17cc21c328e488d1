// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The benchmark framework behind {@code talaria observe}: see docs/observatory.md. */
package io.talaria.bench.observe;
