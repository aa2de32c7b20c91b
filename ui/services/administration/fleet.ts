/** Agents as the pages show them, read from the answers of any version of the hub. */

import { msg } from "@lit/localize";
import { asFacts, type Facts } from "#ui/services/hub/json-call.ts";
import { formatShort } from "#ui/services/text/format.ts";

export interface FleetInput {
  readonly id: string;
  readonly type: string;
  readonly files: number;
  readonly lagBytes: number;
  readonly errors: number;
  readonly lastError: string;
}

export interface FleetFile {
  readonly input: string;
  readonly path: string;
  /** `open`, `closed`, `moved` or `deleted`. */
  readonly place: string;
  readonly sizeBytes: number;
  /** In the hub's log up to here. */
  readonly sentBytes: number;
  /** In committed segments up to here. */
  readonly committedBytes: number;
  /** Of a line without an end, which is sent when it ends. */
  readonly unfinishedBytes: number;
  readonly lastError: string;
}

export interface FleetAgent {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly version: string;
  /** The agent's own state, or `lost`. */
  readonly health: string;
  readonly reason: string;
  /** ms since 1970. */
  readonly lastSeenMs: number;
  readonly startedMs: number;
  readonly rssBytes: number;
  readonly linesRead: number;
  /** Between its last two reports; undefined before the second one. */
  readonly linesPerSecond: number | undefined;
  readonly bytesRead: number;
  readonly bytesAcked: number;
  readonly openFiles: number;
  readonly lagBytes: number;
  /** Of deleted files, not stored by the hub yet. */
  readonly openDeletedBytes: number;
  readonly inputs: readonly FleetInput[];
  /** The files that need attention first; empty in the list of all agents. */
  readonly files: readonly FleetFile[];
  /** Number of further files. */
  readonly filesMore: number;
}

/** Returns an agent of the hub's list; a missing value becomes 0 or "". */
export function readAgent(facts: Facts): FleetAgent {
  const number = (name: string): number => Number(facts[name] ?? 0) || 0;
  const text = (name: string): string => textOf(facts, name);
  const inputs = Array.isArray(facts["inputs"]) ? facts["inputs"].map(asFacts) : [];
  return {
    id: text("id"),
    name: text("name") || text("id"),
    host: text("host"),
    version: text("version"),
    health: text("health") || "unknown",
    reason: text("reason"),
    lastSeenMs: Date.parse(text("last_seen")) || 0,
    startedMs: Date.parse(text("started")) || 0,
    rssBytes: number("rss_bytes"),
    linesRead: number("lines_read"),
    linesPerSecond: typeof facts["lines_per_second"] === "number" ? facts["lines_per_second"] : undefined,
    bytesRead: number("bytes_read"),
    bytesAcked: number("bytes_acked"),
    openFiles: number("open_files"),
    lagBytes: number("lag_bytes"),
    openDeletedBytes: number("open_deleted_bytes"),
    inputs: inputs.map((input) => ({
      id: textOf(input, "id"),
      type: textOf(input, "type"),
      files: Number(input["files"] ?? 0) || 0,
      lagBytes: Number(input["lag_bytes"] ?? 0) || 0,
      errors: Number(input["errors"] ?? 0) || 0,
      lastError: textOf(input, "last_error"),
    })),
    files: (Array.isArray(facts["files"]) ? facts["files"].map(asFacts) : []).map(readFile),
    filesMore: number("files_more"),
  };
}

function readFile(file: Facts): FleetFile {
  const number = (name: string): number => Number(file[name] ?? 0) || 0;
  return {
    input: textOf(file, "input"),
    path: textOf(file, "path"),
    place: textOf(file, "place"),
    sizeBytes: number("size_bytes"),
    sentBytes: number("sent_bytes"),
    committedBytes: number("committed_bytes"),
    unfinishedBytes: number("unfinished_bytes"),
    lastError: textOf(file, "last_error"),
  };
}

/** Returns the bytes of a file that the hub's log lacks though their lines have ended. */
export function behindBytes({ sizeBytes, sentBytes, unfinishedBytes }: FleetFile): number {
  return Math.max(0, sizeBytes - sentBytes - unfinishedBytes);
}

/** Returns how far a file's lines are, in a word, and the look of its badge. */
export function fileState(file: FleetFile): readonly [word: string, look: "ok" | "warning" | "failed"] {
  if (file.lastError !== "") return [msg("can't be read"), "failed"];
  if (behindBytes(file) > 0) return [msg("behind"), "warning"];
  if (file.committedBytes < file.sizeBytes - file.unfinishedBytes) return [msg("in the log"), "ok"];
  return [file.unfinishedBytes > 0 ? msg("last line has no end yet") : msg("committed"), "ok"];
}

const HEALTH_WORDS: Readonly<Record<string, string>> = {
  ok: msg("ok"),
  degraded: msg("degraded"),
  failed: msg("failed"),
  lost: msg("lost"),
  unknown: msg("unknown"),
};

/** Returns an agent's health in the reader's language. */
export function healthText(health: string): string {
  return HEALTH_WORDS[health] ?? health;
}

/** Returns the look of a badge for an agent's health. */
export function healthLook(health: string): "ok" | "warning" | "failed" {
  if (health === "ok") return "ok";
  return health === "lost" || health === "failed" ? "failed" : "warning";
}

/** Returns a rate for a cell. */
export function rateText(perSecond: number | undefined): string {
  return perSecond === undefined ? "–" : formatShort(perSecond);
}

function textOf(facts: Facts, name: string): string {
  const value = facts[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
