/** What routes of templates share: which ones a name or pattern means, and what is new. */

import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
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

/** Returns the names that `patterns` fit; throws not_found for a name, in distinction from a pattern, that isn't there. */
export function namesAsked(
  templates: Readonly<Record<string, unknown>>,
  patterns: readonly string[] | undefined,
  what: string,
): string[] {
  const names = namesMatching(templates, patterns);
  const missing = missingOf(names, patterns);
  if (missing === undefined) return names;
  throw new AppError("not_found", `${what} matching [${missing}] not found`);
}

/** Returns the names to delete; throws not_found for a name that isn't there and where nothing fits, but for `*`. */
export function namesToDelete(
  templates: Readonly<Record<string, unknown>>,
  patterns: readonly string[],
  what: string,
): string[] {
  const names = namesMatching(templates, patterns);
  const asked = patterns.join(",");
  const missing = missingOf(names, patterns);
  if (missing === undefined && (names.length > 0 || asked === "*")) return names;
  throw new AppError("not_found", `${what} [${missing ?? asked}] missing`, {
    data: { type: "index_template_missing_exception" },
  });
}

function missingOf(names: readonly string[], patterns: readonly string[] | undefined): string | undefined {
  return patterns?.find((name) => !name.includes("*") && !names.includes(name));
}

/** Throws request_invalid where there is one of this name. */
export function requireNew(templates: Readonly<Record<string, unknown>>, name: string, what: string): void {
  if (Object.hasOwn(templates, name))
    throw new AppError("request_invalid", `${what} [${name}] already exists`);
}
