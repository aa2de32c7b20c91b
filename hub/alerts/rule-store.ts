/**
 * Alert rules and their states: `rule/<id>` = {rule, reach, writer} and `state/<id>` in a bucket, changed by
 * compare-and-set.
 */

import { randomBytes } from "node:crypto";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";
import { type AlertState, FIRST_STATE, isDue, type Reach } from "./alert-state.ts";
import { type AlertRule, checkRule } from "./rule.ts";

/** Each rule costs a search per interval. */
const MAX_RULES = 500;
/** Attempts of a change: few hubs change one rule at the same time. */
const MAX_CHANGE_TRIES = 10;
const ID = /^[A-Za-z0-9_-]{1,100}$/;

/** Who saved a rule last. */
export interface Writer {
  /** `access_token`: an application on behalf of an account. */
  readonly kind: "user" | "api_key" | "access_token";
  /** Of the account or of the API key. */
  readonly id: string;
  /** Its name then, for people. */
  readonly name: string;
  /** The application, of an access token. */
  readonly clientId?: string;
}

/** The content of a rule's record. */
export interface SavedRule {
  readonly rule: AlertRule;
  /** What the writer reached when it saved the rule. */
  readonly reach: Reach;
  /** Absent: `auth.mode` was off, or a hub that didn't store writers saved the rule. It counts in `reach`. */
  readonly writer?: Writer;
}

export interface StoredRule extends SavedRule {
  readonly id: string;
  /** Changes with each write of the rule. */
  readonly revision: number;
}

/** A stored rule that can't be read: of another version, or damaged. */
export interface UnreadableRule {
  readonly id: string;
  readonly revision: number;
  readonly fault: string;
}

/** A state with the revision it was read at; 0: there was no state. */
export interface StoredState {
  readonly revision: number;
  readonly state: AlertState;
  /** The stored state can't be read: `state` is the first one, which may replace it. */
  readonly isDamaged?: true;
}

export class RuleStore {
  readonly #bucket: StateBucket;
  /** Each rule that can be read, and each state, as the watch last saw them. */
  readonly #rules = new Map<string, StoredRule>();
  readonly #states = new Map<string, AlertState>();
  /** Whether a rule has changed since `takeDue` last said so. */
  #isChanged = false;

  constructor(bucket: StateBucket) {
    this.#bucket = bucket;
  }

  /** Watches the bucket until `signal` is aborted, so that `takeDue` knows its content. */
  async follow(signal: AbortSignal): Promise<void> {
    this.#rules.clear();
    this.#states.clear();
    for await (const { key, revision, value } of this.#bucket.watch(signal)) {
      if (key.startsWith("state/")) {
        const id = key.slice("state/".length);
        const state = value === null ? undefined : orUndefined(() => decodeState(value));
        if (state === undefined) this.#states.delete(id);
        else this.#states.set(id, state);
        continue;
      }
      this.#isChanged = true;
      const rule = value === null ? undefined : orUndefined(() => decode({ key, revision, value }));
      if (rule === undefined) this.#rules.delete(idOf(key));
      else this.#rules.set(idOf(key), rule);
    }
  }

  /**
   * Returns whether a rule may have to be evaluated, a message may have to be sent, or a rule has changed. Messages of rules
   * for which `maySend` returns false don't count. Needs `follow`, and asks the server nothing.
   */
  takeDue(nowMs: number, maySend: (id: string) => boolean = () => true): boolean {
    if (this.#isChanged) {
      this.#isChanged = false;
      return true;
    }
    for (const [id, stored] of this.#rules) {
      const state = this.#states.get(id) ?? FIRST_STATE;
      if (stored.rule.enabled && isDue(state, stored, nowMs)) return true;
      if (state.deliveries.some(({ notBeforeMs }) => notBeforeMs <= nowMs) && maySend(id)) return true;
    }
    return false;
  }

  /** Returns all rules, sorted by title. Rules that can't be read are listed separately. */
  async list(): Promise<{ readonly rules: StoredRule[]; readonly unreadable: UnreadableRule[] }> {
    const keys = await this.#bucket.keys("rule/");
    const entries = await Promise.all(keys.map((key) => this.#bucket.get(key)));
    const rules: StoredRule[] = [];
    const unreadable: UnreadableRule[] = [];
    for (const entry of entries.filter((one) => one !== null))
      try {
        rules.push(decode(entry));
      } catch (error) {
        const { key, revision } = entry;
        unreadable.push({ id: idOf(key), revision, fault: toAppError(error).message });
      }
    rules.sort((a, b) => a.rule.title.localeCompare(b.rule.title, "en") || (a.id < b.id ? -1 : 1));
    return { rules, unreadable };
  }

  /** Throws not_found, request_invalid. */
  async get(id: string): Promise<StoredRule> {
    return decode(await this.#entry(id));
  }

  /** Returns false once the rule was changed or deleted. */
  async isNewest({ id, revision }: StoredRule): Promise<boolean> {
    return (await this.#bucket.get(ruleKey(id)))?.revision === revision;
  }

  /** Throws request_invalid if the maximum number of rules exists. */
  async create(content: SavedRule): Promise<StoredRule> {
    if ((await this.#bucket.keys("rule/")).length >= MAX_RULES)
      throw new AppError("request_invalid", `there are ${MAX_RULES} alert rules, the maximum; delete some`);
    const id = randomBytes(9).toString("base64url");
    return { id, ...content, revision: await this.#bucket.create(ruleKey(id), encode(content)) };
  }

  /** Replaces a rule; with `revision`, only if that is the newest. Throws journal_conflict, not_found. */
  async put(id: string, content: SavedRule, revision?: number): Promise<StoredRule> {
    const before = await this.#entry(id);
    const next = await this.#bucket
      .update(ruleKey(id), encode(content), revision ?? before.revision)
      .catch(conflict);
    return { id, ...content, revision: next };
  }

  /** Deletes a rule, readable or not, and its state. Throws journal_conflict, not_found. */
  async delete(id: string, revision?: number): Promise<void> {
    const before = await this.#entry(id);
    await this.#bucket.delete(ruleKey(id), revision ?? before.revision).catch(conflict);
    await this.#bucket.delete(`state/${id}`);
  }

  async state(id: string): Promise<StoredState> {
    const entry = await this.#bucket.get(`state/${id}`);
    if (entry === null) return { revision: 0, state: FIRST_STATE };
    const { revision, value } = entry;
    const state = orUndefined(() => decodeState(value));
    return state === undefined ? { revision, state: FIRST_STATE, isDamaged: true } : { revision, state };
  }

  /** Replaces the state that was read. Returns the stored state, or undefined if another hub changed it first. */
  async replaceState(
    id: string,
    { revision }: StoredState,
    state: AlertState,
  ): Promise<StoredState | undefined> {
    try {
      const next =
        revision === 0
          ? await this.#bucket.create(`state/${id}`, encode(state))
          : await this.#bucket.update(`state/${id}`, encode(state), revision);
      return { revision: next, state };
    } catch (error) {
      if (toAppError(error).code === "journal_conflict") return undefined;
      throw error;
    }
  }

  /** Changes a state, starting from `known`. Retries on the stored state if another hub has changed it. */
  async changeState(
    id: string,
    change: (state: AlertState) => AlertState,
    known: StoredState,
  ): Promise<void> {
    let stored = known;
    for (let tries = 0; tries < MAX_CHANGE_TRIES; tries++) {
      if ((await this.replaceState(id, stored, change(stored.state))) !== undefined) return;
      stored = await this.state(id);
    }
    throw new AppError("journal_conflict", `the state of alert rule ${id} keeps changing; try again`);
  }

  async #entry(id: string): Promise<StateEntry> {
    const entry = await this.#bucket.get(ruleKey(id));
    if (entry === null) throw missing(id);
    return entry;
  }
}

/** Throws if the rule can't be read. */
function decode({ key, revision, value }: StateEntry): StoredRule {
  const { rule, ...more } = JSON.parse(Buffer.from(value).toString()) as SavedRule;
  return { ...more, id: idOf(key), revision, rule: checkRule(rule) };
}

/** Returns what `read` returns, or undefined for a value that can't be read: `tick` meets it again and logs it. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Throws if the state can't be read. */
function decodeState(value: Uint8Array): AlertState {
  const state = { ...FIRST_STATE, ...(JSON.parse(Buffer.from(value).toString()) as AlertState) };
  if (!Number.isFinite(state.slot) || !Array.isArray(state.deliveries))
    throw new AppError("data_corrupt", "the state of an alert rule is damaged");
  // A hub of an earlier version clears `fault` alone.
  return { ...state, stopped: state.stopped && state.fault !== "" };
}

function idOf(key: string): string {
  return key.slice("rule/".length);
}

function encode(value: SavedRule | AlertState): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function ruleKey(id: string): string {
  if (!ID.test(id)) throw missing(id);
  return `rule/${id}`;
}

function missing(id: string): AppError {
  return new AppError("not_found", `there is no alert rule ${id}; it may have been deleted`);
}

function conflict(error: unknown): never {
  if (toAppError(error).code !== "journal_conflict") throw error;
  throw new AppError(
    "journal_conflict",
    "the rule was changed since you read it; read it again and repeat your change",
    {
      cause: error,
    },
  );
}
