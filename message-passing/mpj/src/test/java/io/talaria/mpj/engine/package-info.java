// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of the engine. */
package io.talaria.mpj.engine;
