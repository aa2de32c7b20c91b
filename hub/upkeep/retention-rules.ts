/**
 * The rules of what is kept: those of the settings, and those that administrators make on the page, which are one entry
 * of a bucket, changed by compare-and-set. The settings come first: the first pattern that fits counts.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { dueIndices, parseRetentionRule, type RetainedIndex, type RetentionRule } from "./retention.ts";

/** The rules as their readers get them; each is a text such as "logs-* 30d 50gb". */
export interface RetentionView {
  /** Of the settings; the page can't change them. */
  readonly fixed: readonly string[];
  readonly rules: readonly string[];
  /** Changes with each write; 0 before the first. */
  readonly revision: number;
}

export interface RetentionRulesOptions {
  readonly bucket: StateBucket;
  /** Of the hub's own indices; nobody is told of them. */
  readonly own: readonly string[];
  /** `retention.rules`. */
  readonly fixed: readonly string[];
  readonly indices: () => readonly RetainedIndex[];
  readonly nowMs: () => number;
}

const KEY = "rules";
const MAX_RULES = 100;
const MAX_RULE_LENGTH = 300;

export class RetentionRules {
  readonly #options: RetentionRulesOptions;
  readonly #own: readonly RetentionRule[];
  readonly #fixed: readonly RetentionRule[];

  /** Throws settings_invalid. */
  constructor(options: RetentionRulesOptions) {
    this.#options = options;
    this.#own = options.own.map(parseRetentionRule);
    this.#fixed = options.fixed.map(parseRetentionRule);
  }

  /** Returns all rules in the order in which they count. Throws what the bucket does. */
  async all(): Promise<readonly RetentionRule[]> {
    const { rules } = await this.view();
    return [...this.#own, ...this.#fixed, ...rules.map(parseRetentionRule)];
  }

  async view(): Promise<RetentionView> {
    const { bucket, fixed } = this.#options;
    const entry = await bucket.get(KEY);
    if (entry === null) return { fixed, rules: [], revision: 0 };
    const { rules } = JSON.parse(Buffer.from(entry.value).toString()) as { rules: string[] };
    return { fixed, rules, revision: entry.revision };
  }

  /** Replaces the page's rules where `revision` is still the newest. Throws request_invalid, journal_conflict. */
  async put(rules: readonly string[], revision: number): Promise<RetentionView> {
    for (const rule of rules) checked(rule);
    if (rules.length > MAX_RULES)
      throw new AppError("request_invalid", `at most ${MAX_RULES} rules of retention are kept`);
    const value = Buffer.from(JSON.stringify({ rules }));
    const { bucket } = this.#options;
    if (revision === 0) await bucket.create(KEY, value);
    else await bucket.update(KEY, value, revision);
    return this.view();
  }

  /** Returns the names of the indices that would be deleted at once if these were the page's rules. Throws request_invalid. */
  due(rules: readonly string[]): string[] {
    const { indices, nowMs } = this.#options;
    const all = [...this.#own, ...this.#fixed, ...rules.map(checked)];
    return dueIndices(all, indices(), nowMs()).map(({ index }) => index.name);
  }
}

function checked(rule: string): RetentionRule {
  try {
    if (rule.length <= MAX_RULE_LENGTH) return parseRetentionRule(rule);
  } catch (error) {
    throw new AppError("request_invalid", error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
  throw new AppError("request_invalid", `a rule of retention has at most ${MAX_RULE_LENGTH} characters`);
}
