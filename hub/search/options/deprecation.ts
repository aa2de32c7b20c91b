/**
 * Warnings about what a request uses and later versions won't take, or what has no effect here. They are gathered for the
 * request under way, as what notices them is far below what answers; so is the version that it is answered in, since
 * what one version warns of the next one refuses.
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** Warnings of one answer; further ones are left out, as they are headers. */
const MAX_WARNINGS = 20;

/** Outside of requests everything is as in 6.5. */
const OLDEST = 605;

/** A version as a number, 6.5.4 being 605. */
export type VersionNumber = number;

/** Versions that warn: from one on, before another. */
export interface Versions {
  readonly from?: VersionNumber;
  readonly until?: VersionNumber;
}

interface UnderWay {
  readonly warnings: Set<string>;
  readonly version: VersionNumber;
}

const underWay = new AsyncLocalStorage<UnderWay>();

/** Runs `run` for a request that is answered as `version`; what it and all it awaits warn of goes into `warnings`, each text once. */
export function gatherWarnings<T>(warnings: Set<string>, version: VersionNumber, run: () => T): T {
  return underWay.run({ warnings, version }, run);
}

/** Whether the request under way was warned of something. */
export function hasWarnings(): boolean {
  return (underWay.getStore()?.warnings.size ?? 0) > 0;
}

/** Whether the request under way is answered as `version` or a later one. */
export function answersAs(version: VersionNumber): boolean {
  return (underWay.getStore()?.version ?? OLDEST) >= version;
}

/** Adds a warning to the answer of the request under way, where its version is one that warns. */
export function warnDeprecated(
  text: string,
  { from = 0, until = Number.POSITIVE_INFINITY }: Versions = {},
): void {
  const store = underWay.getStore();
  if (store === undefined || store.version < from || store.version >= until) return;
  if (store.warnings.size < MAX_WARNINGS) store.warnings.add(text);
}
