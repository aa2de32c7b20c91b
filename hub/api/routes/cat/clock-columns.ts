/** The two columns with which some tables begin. */

import type { Column, Row } from "./table.ts";

export const clockColumns: readonly Column[] = [
  { name: "epoch", aliases: ["t", "time"], help: "seconds since 1970-01-01 00:00:00", shownBy: "ts" },
  { name: "timestamp", aliases: ["ts", "hms", "hhmmss"], help: "time in HH:MM:SS", shownBy: "ts" },
];

/** `nowMs`: ms since 1970-01-01 UTC. */
export function clockCells(nowMs: number): Row {
  return { epoch: Math.floor(nowMs / 1_000), timestamp: new Date(nowMs).toISOString().slice(11, 19) };
}
