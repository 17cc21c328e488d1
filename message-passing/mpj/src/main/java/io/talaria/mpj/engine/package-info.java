// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** One engine a rank: its lock, waiting, progress and sleep over a device; settings; start-up. */
package io.talaria.mpj.engine;
