/** The requests that took longest, asked again alone: how long each takes and how long it holds a thread of the hub. */

import type { PlainAnswer, PlainRequest } from "#test/harness/pipelined-http.ts";

/** Requests that are asked again: a slow answer may have waited for others. */
const KEPT = 60;
/** Each is asked so often, and its best time counts: the machine may be busy with other things. */
const ROUNDS = 3;
/** Requests that are told. */
const TOLD = 10;

interface Timed {
  readonly asked: PlainRequest;
  readonly ms: number;
}

/** What one request costs alone, ms. */
export interface RequestCost {
  readonly asked: PlainRequest;
  readonly status: number;
  readonly answerMs: number;
  /** Longest turn of the front's and of any host's event loop meanwhile. */
  readonly heldMs: number;
}

export class SlowRequests {
  #slow: Timed[] = [];

  /** The requests remembered, the slowest first. */
  get requests(): readonly PlainRequest[] {
    return this.#slow.map(({ asked }) => asked);
  }

  /** Remembers a request if it is one of the slowest; `ms`: until its answer. */
  saw(asked: PlainRequest, ms: number): void {
    if (this.#slow.length >= KEPT && ms <= this.#slow.at(-1)!.ms) return;
    this.#slow.push({ asked, ms });
    this.#slow.sort((a, b) => b.ms - a.ms);
    this.#slow.length = Math.min(this.#slow.length, KEPT);
  }

  /**
   * Asks the requests again, one at a time, and returns those that hold a thread longest. `longestTurnMs`: the longest turn
   * since it was asked last.
   */
  async replay(
    send: (asked: PlainRequest) => Promise<PlainAnswer>,
    longestTurnMs: () => Promise<number>,
  ): Promise<readonly RequestCost[]> {
    const costs: RequestCost[] = [];
    for (const { asked } of this.#slow) {
      let best: RequestCost | undefined;
      for (let round = 0; round < ROUNDS; round++) {
        await longestTurnMs();
        const startMs = performance.now();
        const { status } = await send(asked);
        const answerMs = performance.now() - startMs;
        const cost = { asked, status, answerMs, heldMs: await longestTurnMs() };
        if (best === undefined || cost.heldMs < best.heldMs) best = cost;
      }
      costs.push(best!);
    }
    return costs.sort((a, b) => b.heldMs - a.heldMs || b.answerMs - a.answerMs).slice(0, TOLD);
  }
}

/** Returns a line for a report. */
export function costLine({ asked, status, answerMs, heldMs }: RequestCost): string {
  const { method, path, body } = asked;
  const what = `${method} ${path.slice(0, 120)} ${body.slice(0, 200).replaceAll("\n", "\\n")}`;
  return `${heldMs.toFixed(0)} ms held, ${answerMs.toFixed(0)} ms, ${status}: ${what}`;
}
