/** What the packager needs of the project: its folder, its version, the time its files get. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The checkout. */
export const ROOT = resolve(import.meta.dirname, "../..");

/** A part that is packaged. */
export type Part = "agent" | "hub";

export const PARTS: readonly Part[] = ["agent", "hub"];

/** Returns where an installed part has its settings and its data. */
export function installedPlaces(part: Part): { readonly config: string; readonly data: string } {
  return { config: `/etc/tailrace/${part}.yml`, data: `/var/lib/tailrace-${part}` };
}

/** Names of processors: Node's, which packages of npm use, and Debian's. */
export const DEBIAN_ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** Where there is neither SOURCE_DATE_EPOCH nor git: 2026-01-01. */
const FALLBACK_EPOCH_S = 1_767_225_600;

/** Returns the version of package.json. */
export function projectVersion(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  return version;
}

/**
 * Returns the time that all packaged files get, in seconds: SOURCE_DATE_EPOCH, else the last commit's, so that the same
 * commit gives the same bytes (reproducible-builds.org/specs/source-date-epoch).
 */
export function sourceEpoch(env: NodeJS.ProcessEnv): number {
  const given = env["SOURCE_DATE_EPOCH"];
  if (given !== undefined && /^\d+$/.test(given)) return Number(given);
  const git = spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: ROOT, encoding: "utf8" });
  const committed = Number(git.stdout?.trim());
  return git.status === 0 && committed > 0 ? committed : FALLBACK_EPOCH_S;
}

/** Returns the folder of the Node that the packages contain for `arch` ("x64"). */
export function nodeFolder(arch: string): string {
  return join(ROOT, "node_modules", `node-linux-${arch}`);
}

/** Returns the version of that Node. */
export function nodeVersion(arch: string): string {
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    optionalDependencies: Readonly<Record<string, string>>;
  };
  return optionalDependencies[`node-linux-${arch}`] ?? "unknown";
}
