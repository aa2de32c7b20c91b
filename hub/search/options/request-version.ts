/**
 * The interface version of the current request, and the warnings of its answer. Code far below the HTTP interface calls
 * `answersAs` and `warnDeprecated`: the next major version refuses what one version warns of.
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** Warnings of one answer. They are sent as headers, so others are left out. */
const MAX_WARNINGS = 20;

/** Version of code that runs outside of a request. */
const OLDEST = 605;

/** A version as a number, 6.5.4 being 605. */
export type VersionNumber = number;

/** Versions that warn: `from` inclusive, `until` exclusive. */
export interface Versions {
  readonly from?: VersionNumber;
  readonly until?: VersionNumber;
}

interface UnderWay {
  readonly warnings: Set<string>;
  readonly version: VersionNumber;
}

const underWay = new AsyncLocalStorage<UnderWay>();

/** Runs `run` for a request answered as `version`. Warnings of it and of all it awaits go into `warnings`, each text once. */
export function gatherWarnings<T>(warnings: Set<string>, version: VersionNumber, run: () => T): T {
  return underWay.run({ warnings, version }, run);
}

/** Returns the number of warnings of the current request so far. */
export function warningCount(): number {
  return underWay.getStore()?.warnings.size ?? 0;
}

/** Returns the version in which the current request is answered. */
export function requestVersion(): VersionNumber {
  return underWay.getStore()?.version ?? OLDEST;
}

/** Returns true if the current request is answered as `version` or a later one. */
export function answersAs(version: VersionNumber): boolean {
  return requestVersion() >= version;
}

/** Adds a warning to the answer of the current request if its version is in the range. */
export function warnDeprecated(
  text: string,
  { from = 0, until = Number.POSITIVE_INFINITY }: Versions = {},
): void {
  const store = underWay.getStore();
  if (store === undefined || store.version < from || store.version >= until) return;
  if (store.warnings.size < MAX_WARNINGS) store.warnings.add(text);
}
