/** A nats-server that may be one of several: older ones can lose a whole stream. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findBinary } from "./nats.ts";

/** Oldest version of which several may form a cluster. */
const OLDEST = [2, 10, 23] as const;
const SCRIPT = resolve(import.meta.dirname, "../tools.sh");
/** Where `bash test/tools.sh nats-server` builds one. */
const BUILT = resolve(import.meta.dirname, "../../.cache/tools/nats-server");
/** Says to the processes of a run why none was built. */
const FAULT = "TAILRACE_NATS_SERVER_FAULT";
/** Characters of what the script has printed that a reason names. */
const SHOWN = 400;

/** Why tests of several servers are skipped. */
export const NO_CLUSTERED_NATS = `there is no nats-server ${OLDEST.join(".")} or newer (${
  process.env[FAULT] ??
  "run bash test/tools.sh nats-server where Go is, or set TAILRACE_NATS_SERVER_NEWER to its path"
})`;

/** Returns the path of the program; undefined where there is none. */
export function clusteredNats(): string | undefined {
  const newer = process.env["TAILRACE_NATS_SERVER_NEWER"];
  const candidates = [...(newer === undefined ? [] : [newer]), BUILT].filter(existsSync);
  return [...candidates, ...usual()].find(canCluster);
}

/**
 * Builds the program where there is none, Go is, and TAILRACE_NATS_SERVER doesn't say which to use. A run of tests does this
 * before it starts their processes, as it takes longer than a test may.
 */
export function ensureClusteredNats(): void {
  if (process.env["TAILRACE_NATS_SERVER"] !== undefined || clusteredNats() !== undefined) return;
  const said = buildNats(SCRIPT);
  if (clusteredNats() === undefined) process.env[FAULT] = said;
}

/** Builds one by `script`, if that can be; returns the end of what was printed, as one line. */
export function buildNats(script: string, env: NodeJS.ProcessEnv = process.env): string {
  const { stdout, stderr, error } = spawnSync("bash", [script, "nats-server"], { encoding: "utf8", env });
  const printed = error === undefined ? stdout + stderr : error.message;
  return printed
    .trim()
    .slice(-SHOWN)
    .replaceAll(/\s*\n\s*/g, "; ");
}

/** Returns true for a version of which several may form a cluster. */
export function canCluster(program: string): boolean {
  const text = execFileSync(program, ["--version"], { encoding: "utf8" });
  const found = /v(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number) ?? [0, 0, 0];
  const at = OLDEST.findIndex((least, place) => found[place] !== least);
  return at < 0 || found[at]! > OLDEST[at]!;
}

function usual(): string[] {
  try {
    return [findBinary()];
  } catch {
    return [];
  }
}
