/** Resolves host names and addresses for filters, which can't await. */

import { setNewest } from "#proto/kit/newest-entries.ts";

/** What is known of a name: its address, or of an address its name. */
export type NameAnswer =
  | { readonly kind: "found"; readonly value: string }
  | { readonly kind: "missing" }
  | { readonly kind: "timeout" };

export interface Names {
  /** Returns the first address of a name. May block for as long as its limits say. */
  resolve(name: string): NameAnswer;
  /** Returns the name of an address. */
  reverse(address: string): NameAnswer;
}

export interface NameLimits {
  /** Entries kept; 0: none. */
  readonly size: number;
  readonly ttlMs: number;
}

/** Keeps answers for a while, those that failed separately. */
export class CachedNames implements Names {
  readonly #names: Names;
  readonly #hits: NameLimits;
  readonly #failures: NameLimits;
  readonly #nowMs: () => number;
  readonly #kept = new Map<string, { readonly answer: NameAnswer; readonly untilMs: number }>();
  readonly #failed = new Map<string, { readonly answer: NameAnswer; readonly untilMs: number }>();

  constructor(names: Names, hits: NameLimits, failures: NameLimits, nowMs: () => number) {
    this.#names = names;
    this.#hits = hits;
    this.#failures = failures;
    this.#nowMs = nowMs;
  }

  resolve(name: string): NameAnswer {
    return this.#cached(`n${name}`, () => this.#names.resolve(name));
  }

  reverse(address: string): NameAnswer {
    return this.#cached(`a${address}`, () => this.#names.reverse(address));
  }

  #cached(key: string, ask: () => NameAnswer): NameAnswer {
    const nowMs = this.#nowMs();
    for (const cache of [this.#kept, this.#failed]) {
      const known = cache.get(key);
      if (known !== undefined && known.untilMs > nowMs) return known.answer;
      cache.delete(key);
    }
    const answer = ask();
    const [cache, { size, ttlMs }] =
      answer.kind === "found" ? [this.#kept, this.#hits] : [this.#failed, this.#failures];
    if (size > 0) setNewest(cache, key, { answer, untilMs: nowMs + ttlMs }, size);
    return answer;
  }
}
