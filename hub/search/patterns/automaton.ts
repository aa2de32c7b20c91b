/**
 * Matches terms against a regular expression in linear time: a Thompson automaton whose state sets become states of a
 * deterministic automaton on first use.
 */

import { AppError } from "#proto/kit/errors.ts";
import { anyCase } from "./ascii-case.ts";
import { type Node, parseRegexp } from "./regexp-syntax.ts";

/** States of one expression, so that nested repetitions can't fill the memory. */
const MAX_STATES = 20_000;

/** Transitions kept; beyond it the table starts again. */
const MAX_TRANSITIONS = 50_000;

interface State {
  /** Characters that lead on to `next`; null for a state that only branches. */
  readonly set: Extract<Node, { kind: "set" }> | null;
  next: number;
  /** Second way of a branching state, -1 for none. */
  other: number;
}

/** A set of states with the transitions that were needed so far. */
interface Subset {
  readonly states: readonly number[];
  readonly accepting: boolean;
  readonly on: Map<number, Subset>;
}

/** A compiled expression. */
export interface CompiledRegexp {
  /** Whether the whole of a term fits. */
  matches(text: string): boolean;
  /** What every term that fits begins with. */
  readonly prefix: string;
  /** The longest text that is known to be in every term that fits. */
  readonly longest: string;
}

/**
 * Returns a test of whole terms, `isCaseless`: of terms in any case. Throws request_invalid for faults and for expressions
 * that are too large.
 */
export function compileRegexp(source: string, isCaseless = false): CompiledRegexp {
  const tree = isCaseless ? anyCase(parseRegexp(source)) : parseRegexp(source);
  const automaton = new Automaton(tree);
  return {
    matches: (text) => automaton.matches(text),
    prefix: literalPrefix(tree),
    longest: longestLiteral(tree),
  };
}

class Automaton {
  readonly #states: State[] = [];
  readonly #accept: number;
  readonly #subsets = new Map<string, Subset>();
  #transitions = 0;
  readonly #startState: number;
  #start: Subset | undefined;

  constructor(tree: Node) {
    this.#accept = this.#add(null, -1);
    this.#startState = this.#compile(tree, this.#accept);
  }

  matches(text: string): boolean {
    let at = (this.#start ??= this.#subset([this.#startState]));
    for (const character of text) {
      const next = this.#step(at, character.codePointAt(0)!);
      if (next.states.length === 0) return false;
      at = next;
    }
    return at.accepting;
  }

  /** Adds the states of a node that lead on to `next`; returns the first. */
  #compile(node: Node, next: number): number {
    switch (node.kind) {
      case "empty":
        return next;
      case "set":
        return this.#add(node, next);
      case "sequence":
        return node.parts.reduceRight((to, part) => this.#compile(part, to), next);
      case "choice":
        return node.parts
          .map((part) => this.#compile(part, next))
          .reduceRight((other, first) => this.#add(null, first, other));
      case "repeat":
        return this.#repeat(node, next);
    }
  }

  #repeat({ part, min, max }: Extract<Node, { kind: "repeat" }>, next: number): number {
    let first = next;
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.#add(null, -1, next);
      this.#states[loop]!.next = this.#compile(part, loop);
      first = loop;
    } else {
      for (let count = min; count < max; count++) first = this.#add(null, this.#compile(part, first), next);
    }
    for (let count = 0; count < min; count++) first = this.#compile(part, first);
    return first;
  }

  #add(set: State["set"], next: number, other = -1): number {
    if (this.#states.length >= MAX_STATES) {
      throw new AppError(
        "request_invalid",
        `the regular expression needs more than ${MAX_STATES} states; make its repetitions smaller`,
      );
    }
    return this.#states.push({ set, next, other }) - 1;
  }

  #step(from: Subset, point: number): Subset {
    const known = from.on.get(point);
    if (known !== undefined) return known;
    const targets: number[] = [];
    for (const number of from.states) {
      const state = this.#states[number]!;
      if (state.set !== null && holds(state.set, point)) targets.push(state.next);
    }
    const to = this.#subset(targets);
    if (++this.#transitions > MAX_TRANSITIONS) {
      this.#transitions = 0;
      for (const subset of this.#subsets.values()) subset.on.clear();
      this.#subsets.clear();
    }
    from.on.set(point, to);
    return to;
  }

  #subset(from: readonly number[]): Subset {
    const closed = this.#close(from);
    const key = closed.join();
    let subset = this.#subsets.get(key);
    if (subset === undefined) {
      subset = { states: closed, accepting: closed.includes(this.#accept), on: new Map() };
      this.#subsets.set(key, subset);
    }
    return subset;
  }

  /** The states reached without a character; branching ones left out. */
  #close(from: readonly number[]): number[] {
    const seen = new Set<number>();
    const stack = [...from];
    for (let number = stack.pop(); number !== undefined; number = stack.pop()) {
      if (number < 0 || seen.has(number)) continue;
      seen.add(number);
      const state = this.#states[number]!;
      if (state.set === null && number !== this.#accept) stack.push(state.next, state.other);
    }
    return [...seen]
      .filter((number) => number === this.#accept || this.#states[number]!.set !== null)
      .sort((a, b) => a - b);
  }
}

function holds({ ranges, negated }: Extract<Node, { kind: "set" }>, point: number): boolean {
  for (const [from, to] of ranges) if (point >= from && point <= to) return !negated;
  return negated;
}

/** Characters that every match begins with. */
function literalPrefix(node: Node): string {
  if (node.kind === "set") return isLiteral(node) ? String.fromCodePoint(node.ranges[0]![0]) : "";
  if (node.kind !== "sequence") return "";
  let prefix = "";
  for (const part of node.parts) {
    if (part.kind !== "set" || !isLiteral(part)) break;
    prefix += String.fromCodePoint(part.ranges[0]![0]);
  }
  return prefix;
}

/** The longest known text that every match contains in one piece. */
function longestLiteral(node: Node): string {
  if (node.kind === "set") return isLiteral(node) ? String.fromCodePoint(node.ranges[0]![0]) : "";
  if (node.kind === "repeat") return node.min > 0 ? longestLiteral(node.part) : "";
  if (node.kind !== "sequence") return "";
  let [longest, run] = ["", ""];
  for (const part of node.parts) {
    const own = longestLiteral(part);
    run = part.kind === "set" && own !== "" ? run + own : "";
    for (const each of [own, run]) if (each.length > longest.length) longest = each;
  }
  return longest;
}

function isLiteral({ ranges, negated }: Extract<Node, { kind: "set" }>): boolean {
  return !negated && ranges.length === 1 && ranges[0]![0] === ranges[0]![1];
}
