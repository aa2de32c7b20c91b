/** Supported versions of nats-server, and the durability of an acknowledged message on them. */

import { AppError } from "#proto/kit/errors.ts";

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/**
 * What survives once the log has acknowledged a message. `power-loss`: written to disk before the acknowledgement.
 * `process`: in the kernel's cache; a process crash loses nothing, a power loss up to the last 2 minutes, which
 * agents send again from their files.
 */
export type Durability = "power-loss" | "process";

/** The JetStream API version the hub requires. */
const FLOOR: ServerVersion = { major: 2, minor: 9, patch: 10 };

/** The first version of the 2.10 line that can't lose a whole stream when it crashes. */
const FIRST_SAFE_2_10 = 23;

/** Named in error messages. */
const RECOMMENDED = "2.10.27 or newer";

/** Returns the version in "nats-server: v2.10.27" or "2.10.27-RC.1", or undefined where there is none. */
export function parseServerVersion(text: string): ServerVersion | undefined {
  const match = /(\d+)\.(\d+)\.(\d+)/.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

export function formatVersion({ major, minor, patch }: ServerVersion): string {
  return `${major}.${minor}.${patch}`;
}

/** Throws nats_refused when the hub must not keep its log on this version; `where` names the server. */
export function checkServerVersion(version: ServerVersion, where: string): void {
  const text = formatVersion(version);
  if (compareVersions(version, FLOOR) < 0) {
    throw new AppError(
      "nats_refused",
      `${where} is nats-server ${text}, which lacks parts of JetStream that the log needs; ` +
        `install ${formatVersion(FLOOR)} or newer, best ${RECOMMENDED}`,
    );
  }
  if (version.major === 2 && version.minor === 10 && version.patch < FIRST_SAFE_2_10) {
    throw new AppError(
      "nats_refused",
      `${where} is nats-server ${text}; versions 2.10.0 to 2.10.22 can lose a whole stream when the process ` +
        `crashes; install ${RECOMMENDED}`,
    );
  }
}

/** Returns true if the server supports `sync_interval`; older versions reject a configuration with it. */
export function knowsSyncInterval(version: ServerVersion): boolean {
  return version.major > 2 || (version.major === 2 && version.minor >= 10);
}

function compareVersions(a: ServerVersion, b: ServerVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}
