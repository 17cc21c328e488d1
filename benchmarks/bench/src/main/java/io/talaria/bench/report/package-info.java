// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** One page with all results: tables, and pictures drawn here as SVG. */
package io.talaria.bench.report;
