// SPDX-License-Identifier: Apache-2.0
// The loop IR in one include.
#pragma once
#include "loop/expr.h"
#include "loop/program.h"
#include "loop/type.h"
