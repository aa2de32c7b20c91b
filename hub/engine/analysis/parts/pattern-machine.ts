/**
 * Runs a regular expression without backtracking (after K. Thompson and R. Pike): all alternatives at once, character
 * by character.
 */

import type { PatternNode } from "./pattern-syntax.ts";

/** A match: offsets of the whole at 0, and of the groups. */
export type Spans = readonly (readonly [from: number, to: number] | undefined)[];

type Step =
  | { readonly kind: "character"; readonly accepts: (point: number) => boolean }
  | { readonly kind: "boundary"; readonly holds: (text: string, at: number) => boolean }
  /** Continues with both, the first preferred. */
  | { readonly kind: "fork"; first: number; second: number }
  | { readonly kind: "save"; readonly slot: number }
  | { readonly kind: "found" };

/** Steps of a program: repetitions with numbers are written out. */
const MAX_STEPS = 500;
/** Steps taken for one text, about a second: what follows has no match. */
const MAX_WORK = 10_000_000;

/** The state of one alternative, and its saved positions. */
interface Way {
  readonly step: number;
  readonly saved: readonly number[];
}

/** A program of an expression. */
export class PatternMachine {
  readonly #steps: Step[] = [];
  readonly #flags: string;
  #groups = 0;
  /** Steps taken by the searches of a text. */
  #work = 0;

  /** `flags`: of i, m, s, u. Throws RangeError if the expression needs backtracking or is too large. */
  constructor(node: PatternNode, flags: string) {
    this.#flags = flags;
    this.#write(node);
    this.#add({ kind: "found" });
  }

  /** Begins a text. */
  reset(): void {
    this.#work = 0;
  }

  /** Returns the first match that begins at `from` or later; none if the text has taken too much work. */
  search(text: string, from: number): Spans | undefined {
    let best: readonly number[] | undefined;
    let ways: Way[] = [];
    for (let at = from; ; ) {
      const seen = new Uint8Array(this.#steps.length);
      const here: Way[] = [];
      for (const way of ways) this.#follow(way, text, at, seen, here);
      if (best === undefined) this.#follow({ step: 0, saved: [at] }, text, at, seen, here);
      const point = text.codePointAt(at);
      ways = [];
      for (const { step, saved } of here) {
        const each = this.#steps[step]!;
        if (each.kind === "found") {
          best = [saved[0]!, at, ...saved.slice(2)];
          break;
        }
        if (point !== undefined && each.kind === "character" && each.accepts(point))
          ways.push({ step: step + 1, saved });
      }
      if (this.#work > MAX_WORK) return undefined;
      if (point === undefined || (best !== undefined && ways.length === 0)) break;
      at += point > 0xffff ? 2 : 1;
    }
    return best === undefined ? undefined : this.#spans(best);
  }

  /** Adds the steps that read a character, or end, to which a way leads; the preferred ones first. */
  #follow(way: Way, text: string, at: number, seen: Uint8Array, found: Way[]): void {
    const open = [way];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { step, saved } = next;
      if (seen[step] === 1) continue;
      seen[step] = 1;
      this.#work++;
      const each = this.#steps[step]!;
      if (each.kind === "fork") open.push({ step: each.second, saved }, { step: each.first, saved });
      else if (each.kind === "save") {
        this.#work += saved.length >> 4;
        const more = saved.slice();
        more[each.slot] = at;
        open.push({ step: step + 1, saved: more });
      } else if (each.kind === "boundary") {
        if (each.holds(text, at)) open.push({ step: step + 1, saved });
      } else found.push(next);
    }
  }

  #spans(saved: readonly number[]): Spans {
    return Array.from({ length: this.#groups + 1 }, (_, group) => {
      const [from, to] = [saved[2 * group], saved[2 * group + 1]];
      return from === undefined || to === undefined ? undefined : ([from, to] as const);
    });
  }

  #add(step: Step): Step {
    if (this.#steps.length >= MAX_STEPS)
      throw new RangeError("its repetitions are too many; write smaller numbers");
    this.#steps.push(step);
    return step;
  }

  #write(node: PatternNode): void {
    switch (node.kind) {
      case "character":
        this.#add({ kind: "character", accepts: characterTest(node.source, this.#flags) });
        break;
      case "boundary": {
        const test = new RegExp(node.source, `${this.#flags.replace(/[is]/g, "")}y`);
        const holds = (text: string, at: number): boolean => {
          test.lastIndex = at;
          return test.test(text);
        };
        this.#add({ kind: "boundary", holds });
        break;
      }
      case "group":
        this.#groups = Math.max(this.#groups, node.index);
        if (node.index > 0) this.#add({ kind: "save", slot: 2 * node.index });
        this.#write(node.node);
        if (node.index > 0) this.#add({ kind: "save", slot: 2 * node.index + 1 });
        break;
      case "sequence":
        for (const each of node.nodes) this.#write(each);
        break;
      case "choice":
        this.#writeChoice(node.nodes);
        break;
      case "repeat":
        this.#writeRepeat(node);
        break;
      case "backtracking":
        throw new RangeError(`${node.name} needs backtracking`);
    }
  }

  #writeChoice(nodes: readonly PatternNode[]): void {
    const ends: { first: number; second: number }[] = [];
    for (const [at, node] of nodes.entries()) {
      const fork = at < nodes.length - 1 ? this.#fork() : undefined;
      this.#write(node);
      if (fork === undefined) break;
      ends.push(this.#fork());
      fork.second = this.#steps.length;
    }
    for (const end of ends) end.first = end.second = this.#steps.length;
  }

  #writeRepeat({ node, min, max, isLazy }: PatternNode & { kind: "repeat" }): void {
    for (let time = 0; time < min; time++) this.#write(node);
    const exits: { first: number; second: number }[] = [];
    const optional = (): void => {
      exits.push(this.#fork());
      this.#write(node);
    };
    if (max === Number.POSITIVE_INFINITY) {
      const from = this.#steps.length;
      optional();
      const back = this.#fork();
      back.first = back.second = from;
    } else for (let time = min; time < max; time++) optional();
    for (const exit of exits) {
      const end = this.#steps.length;
      if (isLazy) [exit.first, exit.second] = [end, exit.first];
      else exit.second = end;
    }
  }

  /** Adds a fork whose first way is the next step. */
  #fork(): { first: number; second: number } {
    const next = this.#steps.length + 1;
    return this.#add({ kind: "fork", first: next, second: next }) as Step & { kind: "fork" };
  }
}

/** Returns the test of one character, with the answers for ASCII kept. */
function characterTest(source: string, flags: string): (point: number) => boolean {
  const pattern = new RegExp(`^(?:${source})$`, flags.replace("m", ""));
  const test = (point: number): boolean => pattern.test(String.fromCodePoint(point));
  const ascii = Array.from({ length: 128 }, (_, point) => test(point));
  return (point) => (point < 128 ? ascii[point]! : test(point));
}
