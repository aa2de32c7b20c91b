/** Agents as the pages show them, read from whatever the hub's version tells of them, and their rates. */

import { msg } from "@lit/localize";
import { asFacts, type Facts } from "#ui/services/hub/json-call.ts";

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
  readonly lastError: string;
}

export interface FleetAgent {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly version: string;
  /** The agent's own word, or `lost`. */
  readonly health: string;
  readonly reason: string;
  /** ms since 1970. */
  readonly lastSeenMs: number;
  readonly startedMs: number;
  readonly rssBytes: number;
  readonly linesRead: number;
  readonly bytesRead: number;
  readonly bytesAcked: number;
  readonly openFiles: number;
  readonly lagBytes: number;
  /** Of deleted files, not stored by the hub yet. */
  readonly openDeletedBytes: number;
  readonly inputs: readonly FleetInput[];
  /** Those that somebody should look at first; none in the list of all agents. */
  readonly files: readonly FleetFile[];
  /** Files beside them. */
  readonly filesMore: number;
}

/** Returns an agent of the hub's list; what it doesn't tell is 0 or "". */
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
    lastError: textOf(file, "last_error"),
  };
}

/** Returns how far a file's lines are, in a word, and the look of its badge. */
export function fileState(file: FleetFile): readonly [word: string, look: "ok" | "warning" | "failed"] {
  if (file.lastError !== "") return [msg("can't be read"), "failed"];
  if (file.sentBytes < file.sizeBytes) return [msg("behind"), "warning"];
  return file.committedBytes < file.sizeBytes ? [msg("in the log"), "ok"] : [msg("committed"), "ok"];
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

/** Lines per second of each agent, between the two newest looks at it that differ. */
export class AgentRates {
  readonly #last = new Map<
    string,
    { readonly lines: number; readonly atMs: number; readonly rate: number }
  >();

  take(agents: readonly FleetAgent[], nowMs: number): void {
    for (const { id, linesRead } of agents) {
      const before = this.#last.get(id);
      const seconds = before === undefined ? 0 : (nowMs - before.atMs) / 1_000;
      const isRestarted = before !== undefined && linesRead < before.lines;
      const rate =
        before === undefined || isRestarted || seconds <= 0 ? 0 : (linesRead - before.lines) / seconds;
      this.#last.set(id, { lines: linesRead, atMs: nowMs, rate });
    }
    for (const id of this.#last.keys()) if (!agents.some((agent) => agent.id === id)) this.#last.delete(id);
  }

  linesPerSecond(id: string): number {
    return this.#last.get(id)?.rate ?? 0;
  }
}

function textOf(facts: Facts, name: string): string {
  const value = facts[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
