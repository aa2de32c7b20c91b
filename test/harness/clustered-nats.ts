/** A nats-server that may be one of several: older ones can lose a whole stream. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findBinary } from "./nats.ts";

/** Oldest version of which several may form a cluster. */
const OLDEST = [2, 10, 23] as const;
/** Where `bash test/tools.sh nats-server` builds one. */
const BUILT = resolve(import.meta.dirname, "../../.cache/tools/nats-server");

/** Why tests of several servers are skipped. */
export const NO_CLUSTERED_NATS = `there is no nats-server ${OLDEST.join(".")} or newer; run bash test/tools.sh nats-server where Go is, or set TAILRACE_NATS_SERVER_NEWER to its path`;

/** Returns the path of the program; undefined where there is none. */
export function clusteredNats(): string | undefined {
  const newer = process.env["TAILRACE_NATS_SERVER_NEWER"];
  const candidates = [...(newer === undefined ? [] : [newer]), BUILT].filter(existsSync);
  return [...candidates, ...usual()].find(canCluster);
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
