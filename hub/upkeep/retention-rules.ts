/**
 * The retention rules: those of the settings, and those that administrators define on the page, which are one entry
 * of a bucket, changed by compare-and-set. The settings come first: the first matching pattern applies.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { dueIndices, parseRetentionRule, type RetainedIndex, type RetentionRule } from "./retention.ts";

/** The rules as readers get them; each is a text such as "logs-* 30d 50gb". */
export interface RetentionView {
  /** From the settings; read-only on the page. */
  readonly fixed: readonly string[];
  readonly rules: readonly string[];
  /** Changes with each write; 0 before the first. */
  readonly revision: number;
}

export interface RetentionRulesOptions {
  readonly bucket: StateBucket;
  /** For the hub's internal indices; not shown. */
  readonly own: readonly string[];
  /** `retention.rules`. */
  readonly fixed: readonly string[];
  readonly indices: () => Promise<readonly RetainedIndex[]>;
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

  /** Returns all rules in order of precedence. Throws what the bucket does. */
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

  /** Replaces the page's rules if `revision` is still the newest. Throws request_invalid, journal_conflict. */
  async put(rules: readonly string[], revision: number): Promise<RetentionView> {
    for (const rule of rules) checked(rule);
    if (rules.length > MAX_RULES)
      throw new AppError("request_invalid", `at most ${MAX_RULES} retention rules are possible`);
    const value = Buffer.from(JSON.stringify({ rules }));
    const { bucket } = this.#options;
    if (revision === 0) await bucket.create(KEY, value);
    else await bucket.update(KEY, value, revision);
    return this.view();
  }

  /** Returns the names of the indices that these rules of the page would delete at once. Throws request_invalid. */
  async due(rules: readonly string[]): Promise<string[]> {
    const { indices, nowMs } = this.#options;
    const all = [...this.#own, ...this.#fixed, ...rules.map(checked)];
    return dueIndices(all, await indices(), nowMs()).map(({ index }) => index.name);
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
  throw new AppError("request_invalid", `a retention rule has at most ${MAX_RULE_LENGTH} characters`);
}
