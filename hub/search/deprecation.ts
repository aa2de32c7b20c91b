/**
 * Warnings about what a request uses and later versions won't take. They are gathered for the request under way, as
 * what notices them is far below what answers.
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** Warnings of one answer; further ones are left out, as they are headers. */
const MAX_WARNINGS = 20;

const underWay = new AsyncLocalStorage<Set<string>>();

/** Runs `run`; what it and all it awaits warn of goes into `warnings`, each text once. */
export function gatherWarnings<T>(warnings: Set<string>, run: () => T): T {
  return underWay.run(warnings, run);
}

/** Whether the request under way was warned of something. */
export function hasWarnings(): boolean {
  return (underWay.getStore()?.size ?? 0) > 0;
}

/** Adds a warning to the answer of the request under way; without one it does nothing. */
export function warnDeprecated(text: string): void {
  const warnings = underWay.getStore();
  if (warnings !== undefined && warnings.size < MAX_WARNINGS) warnings.add(text);
}
