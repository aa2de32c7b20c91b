/** All tasks, and how the search interface is asked beside them. */

import assert from "node:assert/strict";
import { CHARTS } from "./chart-tasks.ts";
import type { DashboardTask, Rest } from "./dashboard-task.ts";
import { FINDING } from "./finding-tasks.ts";
import { READING } from "./reading-tasks.ts";
import { RUNNING } from "./running-tasks.ts";

export const TASKS: readonly DashboardTask[] = [...FINDING, ...READING, ...CHARTS, ...RUNNING];

/** Returns what asks a hub's search interface. */
export function restOf(searchUrl: string): Rest {
  return async (path) => {
    const response = await fetch(`${searchUrl}${path}`);
    assert.ok(response.ok, `${path}: ${response.status}`);
    return (await response.json()) as Record<string, unknown>;
  };
}
