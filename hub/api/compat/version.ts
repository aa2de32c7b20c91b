/**
 * Versions of the search interface: the configured one (`compat.version`), the one a request asks for, and what a
 * version reports about itself. Code that depends on the version of the current request calls `answersAs`.
 */

import type { IncomingHttpHeaders } from "node:http";
import { answersAs, type VersionNumber } from "#hub/search/options/request-version.ts";

/** What a server of a version reports about itself in `/`, `_nodes` and Warning headers. */
export interface VersionProfile {
  readonly luceneVersion: string;
  readonly minWireVersion: string;
  readonly minIndexVersion: string;
  /** Number of shards of an index whose definition gives none. */
  readonly defaultShards: number;
}

/** Profiles by major version; a later version has the last profile. */
const PROFILES: Readonly<Record<number, VersionProfile>> = {
  6: {
    luceneVersion: "7.5.0",
    minWireVersion: "5.6.0",
    minIndexVersion: "5.0.0",
    defaultShards: 5,
  },
  7: {
    luceneVersion: "8.7.0",
    minWireVersion: "6.8.0",
    minIndexVersion: "6.0.0-beta1",
    defaultShards: 1,
  },
};

/** Build that clients compare with the ones they know; the same in every version. */
export const BUILD = {
  build_flavor: "default",
  build_type: "tar",
  build_hash: "d2ef93d",
  build_date: "2018-12-17T21:17:40.758843Z",
  build_snapshot: false,
};

/** Version of the index format that 8.x reports separately; Tailrace's segments have formats of their own. */
export const INDEX_VERSION = 8_536_000;

/** Returns "6.5.4" as 605: 100 × major + minor. */
export function versionNumber(version: string): VersionNumber {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return 100 * major + minor;
}

/** Returns a configured version with all three parts: clients don't recognise "7.17" as a version. */
export function completeVersion(version: string): string {
  const [major = "0", minor = "0", patch = "0"] = version.split(".");
  return `${major}.${minor}.${patch}`;
}

/** Returns whether clients of a version refuse answers without the product header. */
export function needsProductHeader(version: string): boolean {
  return versionNumber(version) >= 714;
}

/** Returns the agent named in the Warning headers of an answer of a version. `configured`: "6.5.4". */
export function warningAgent(configured: string, version: VersionNumber): string {
  const isConfigured = version === versionNumber(configured);
  const shown = isConfigured ? configured : `${Math.floor(version / 100)}.${version % 100}.0`;
  return `Elasticsearch-${shown}-${BUILD.build_hash}`;
}

/** Returns the version that a request is answered in: `compatible-with=8` in Accept or Content-Type, else `configured`. */
export function requestedVersion(configured: VersionNumber, headers: IncomingHttpHeaders): VersionNumber {
  const match =
    COMPATIBLE_WITH.exec(headers.accept ?? "") ?? COMPATIBLE_WITH.exec(headers["content-type"] ?? "");
  return match === null ? configured : 100 * Number(match[1]);
}

const COMPATIBLE_WITH = /compatible-with=(\d{1,2})/;

/** Returns the profile of a version ("6.5.4"). */
export function versionProfile(version: string): VersionProfile {
  return PROFILES[Math.floor(versionNumber(version) / 100)] ?? PROFILES[7]!;
}

/** Returns true if mappings show their type unless the request says otherwise. */
export function showsTypes(): boolean {
  return !answersAs(700);
}
