/** What routes of templates share: which ones a name or pattern means, and what is new. */

import { compileWildcard } from "#hub/search/regexp/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Returns the names, in order, that one of `patterns` fits; all without patterns. */
export function namesMatching(
  templates: Readonly<Record<string, unknown>>,
  patterns: readonly string[] | undefined,
): string[] {
  const all = Object.keys(templates).sort();
  if (patterns === undefined) return all;
  const tests = patterns.map((pattern) => compileWildcard(pattern));
  return all.filter((name) => tests.some((test) => test.matches(name)));
}

/** Throws request_invalid where there is one of this name. */
export function requireNew(templates: Readonly<Record<string, unknown>>, name: string, what: string): void {
  if (Object.hasOwn(templates, name))
    throw new AppError("request_invalid", `${what} [${name}] already exists`);
}
