/** Rules of what is kept of indices, as the hub keeps them: texts such as `logs-* 30d 50gb`. */

import { callHub } from "#ui/services/hub/hub-client.ts";
import { asFacts } from "#ui/services/hub/json-call.ts";

export interface Retention {
  /** Of the hub's settings; the page can't change them. */
  readonly fixed: readonly string[];
  readonly rules: readonly string[];
  readonly revision: number;
}

/** A rule in its parts; an empty age or size sets no limit. */
export interface RetentionRule {
  readonly pattern: string;
  /** `30d` */
  readonly age: string;
  /** `50gb` */
  readonly size: string;
}

const PATH = "/api/retention";

/** Throws HubError. */
export async function fetchRetention(signal: AbortSignal): Promise<Retention> {
  return asFacts(await callHub("GET", PATH, undefined, signal)) as unknown as Retention;
}

/** Replaces the rules; throws HubError where they were changed meanwhile, or one can't be read. */
export async function putRetention(rules: readonly string[], revision: number): Promise<void> {
  await callHub("PUT", PATH, { rules, revision });
}

/** Returns the indices that these rules would delete at once; throws HubError. */
export async function previewRetention(rules: readonly string[]): Promise<string[]> {
  const { indices } = asFacts(await callHub("POST", `${PATH}/_preview`, { rules }));
  return indices as string[];
}

/** Returns the parts of a rule; sizes end in b. */
export function readRule(text: string): RetentionRule {
  const [pattern = "", ...limits] = text.trim().split(/\s+/);
  const isSize = (limit: string): boolean => /b$/i.test(limit);
  return {
    pattern,
    age: limits.find((limit) => !isSize(limit)) ?? "",
    size: limits.find(isSize) ?? "",
  };
}

/** Returns a rule as the hub takes it. */
export function writeRule({ pattern, age, size }: RetentionRule): string {
  return [pattern, age, size].filter((part) => part !== "").join(" ");
}
