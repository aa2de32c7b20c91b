/**
 * Matches terms against a regular expression in linear time: a Thompson automaton whose state sets become states of a
 * deterministic automaton on first use. A complement or an intersection has automata of its own: their position, a set of
 * states of each, is a state made on first use.
 */

import { AppError } from "#proto/kit/errors.ts";
import { anyCase } from "./ascii-case.ts";
import { parseRegexp } from "./regexp-syntax.ts";
import type { Node } from "./regexp-tree.ts";

/** States of one expression, so that nested repetitions can't fill the memory. */
const MAX_STATES = 20_000;

/**
 * Work of new transitions, in states looked at, whose results are kept from term to term: some 20 MB. Beyond it the tables
 * start again.
 */
const MAX_KEPT_WORK = 1_500_000;

/** Work that one term may take: some 100 ms. */
const MAX_TERM_WORK = 1_000_000;

/** Work of a new transition besides its states, and of a new position. */
const TRANSITION_WORK = 16;

interface State {
  /** Characters that lead on to `next`; null for a state that only branches. */
  readonly set: Extract<Node, { kind: "set" }> | null;
  next: number;
  /** Second way of a branching state, -1 for none. */
  other: number;
  /** What has automata of its own, and where they are; such a state also leads on to `next` where they accept. */
  readonly inner?: { readonly language: Language; readonly at: readonly Subset[] };
}

/** A complement or an intersection. */
interface Language {
  readonly id: number;
  readonly parts: readonly Automaton[];
  readonly isComplement: boolean;
}

/** A set of states with the transitions that were needed so far. */
interface Subset {
  readonly id: number;
  readonly states: readonly number[];
  readonly accepting: boolean;
  readonly on: Map<number, Subset>;
}

/** A compiled expression. */
export interface CompiledRegexp {
  /** Whether the whole of a term fits. Throws request_invalid where the term takes too much work. */
  matches(text: string): boolean;
  /** Work of all calls of `matches`, each unit some 100 ns. */
  readonly work: number;
  /** What every term that fits begins with. */
  readonly prefix: string;
  /** The longest text that is known to be in every term that fits. */
  readonly longest: string;
}

/**
 * Returns a test of whole terms, `isCaseless`: of terms in any case, `flags`: see parseRegexp. Throws request_invalid for faults and for expressions
 * that are too large. `maxKeptWork`: work of new transitions after which the tables start again.
 */
export function compileRegexp(
  source: string,
  isCaseless = false,
  flags?: number,
  maxKeptWork = MAX_KEPT_WORK,
): CompiledRegexp {
  const parsed = parseRegexp(source, flags);
  const tree = isCaseless ? anyCase(parsed) : parsed;
  const usage = new Usage(maxKeptWork);
  const automaton = new Automaton(tree, usage);
  return {
    matches: (text) => automaton.matches(text),
    get work() {
      return usage.work;
    },
    prefix: literalPrefix(tree),
    longest: longestLiteral(tree),
  };
}

/** Counts what an automaton and those within it use together. */
class Usage {
  work = 0;
  #states = 0;
  #termStart = 0;
  #keptSince = 0;
  readonly #maxKeptWork: number;

  constructor(maxKeptWork: number) {
    this.#maxKeptWork = maxKeptWork;
  }

  /** Throws request_invalid. */
  addState(): void {
    if (++this.#states <= MAX_STATES) return;
    throw new AppError(
      "request_invalid",
      `the regular expression needs more than ${MAX_STATES} states; make its repetitions smaller`,
    );
  }

  /** Throws request_invalid. */
  addWork(units: number): void {
    this.work += units;
    if (this.work - this.#termStart <= MAX_TERM_WORK) return;
    throw new AppError(
      "request_invalid",
      "the regular expression takes too long for a term of the field; make its repetitions smaller, or use fewer complements and intersections",
    );
  }

  /** Begins a term; returns whether the tables are full. */
  startTerm(): boolean {
    this.#termStart = this.work;
    const isFull = this.work - this.#keptSince > this.#maxKeptWork;
    if (isFull) this.#keptSince = this.work;
    return isFull;
  }
}

class Automaton {
  readonly #states: State[] = [];
  readonly #accept: number;
  readonly #subsets = new Map<string, Subset>();
  #subsetCount = 0;
  readonly #startState: number;
  readonly #usage: Usage;
  readonly #languages = new Map<Node, Language>();
  /** States of languages by their positions. */
  readonly #positions = new Map<string, number>();
  /** Number of the states that were compiled. */
  readonly #compiled: number;
  #start: Subset | undefined;

  constructor(tree: Node, usage: Usage) {
    this.#usage = usage;
    this.#accept = this.#add(null, -1);
    this.#startState = this.#compile(tree, this.#accept);
    this.#compiled = this.#states.length;
  }

  /** Where it is before the first character. */
  get start(): Subset {
    return (this.#start ??= this.#subset([this.#startState]));
  }

  matches(text: string): boolean {
    if (this.#usage.startTerm()) this.#forget();
    this.#usage.addWork(text.length);
    let at = this.start;
    for (const character of text) {
      const next = this.step(at, character.codePointAt(0)!);
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
      case "complement":
        return this.#language(node, [node.part], next);
      case "intersection":
        return this.#language(node, node.parts, next);
    }
  }

  #language(node: Node, parts: readonly Node[], next: number): number {
    let language = this.#languages.get(node);
    if (language === undefined) {
      const automata = parts.map((part) => new Automaton(part, this.#usage));
      const id = this.#languages.size;
      language = { id, parts: automata, isComplement: node.kind === "complement" };
      this.#languages.set(node, language);
    }
    const at = language.parts.map((part) => part.start);
    return this.#add(null, next, -1, { language, at });
  }

  /**
   * Drops the states of positions between two terms, so that they can't fill the memory. The start stays: the compiled
   * states around a language hold that of its automata.
   */
  #forget(): void {
    this.#states.length = this.#compiled;
    this.#positions.clear();
    this.#subsets.clear();
    const { start } = this;
    start.on.clear();
    this.#subsets.set(start.states.join(), start);
    for (const { parts } of this.#languages.values()) for (const part of parts) part.#forget();
  }

  /** Returns the state of a language after a character; undefined if it can't match any more. */
  #moved({ inner, next }: State, point: number): number | undefined {
    const { language, at } = inner!;
    this.#usage.addWork(TRANSITION_WORK + at.length);
    const moved = language.parts.map((part, index) => part.step(at[index]!, point));
    if (!language.isComplement && moved.some(({ states }) => states.length === 0)) return undefined;
    const key = `${language.id} ${next} ${moved.map(({ id }) => id).join()}`;
    let number = this.#positions.get(key);
    if (number === undefined) {
      number = this.#states.push({ set: null, next, other: -1, inner: { language, at: moved } }) - 1;
      this.#positions.set(key, number);
    }
    return number;
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

  #add(set: State["set"], next: number, other = -1, inner?: State["inner"]): number {
    this.#usage.addState();
    return this.#states.push({ set, next, other, ...(inner && { inner }) }) - 1;
  }

  /** Returns where it is after a character. */
  step(from: Subset, point: number): Subset {
    const known = from.on.get(point);
    if (known !== undefined) return known;
    this.#usage.addWork(TRANSITION_WORK + from.states.length);
    const targets: number[] = [];
    for (const number of from.states) {
      const state = this.#states[number]!;
      if (state.set !== null && holds(state.set, point)) targets.push(state.next);
      const moved = state.inner === undefined ? undefined : this.#moved(state, point);
      if (moved !== undefined) targets.push(moved);
    }
    const to = this.#subset(targets);
    from.on.set(point, to);
    return to;
  }

  #subset(from: readonly number[]): Subset {
    const closed = this.#close(from);
    const key = closed.join();
    let subset = this.#subsets.get(key);
    if (subset === undefined) {
      subset = {
        id: this.#subsetCount++,
        states: closed,
        accepting: closed.includes(this.#accept),
        on: new Map(),
      };
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
      if (state.inner !== undefined) {
        if (isAccepted(state.inner)) stack.push(state.next);
      } else if (state.set === null && number !== this.#accept) stack.push(state.next, state.other);
    }
    this.#usage.addWork(seen.size);
    return [...seen]
      .filter(
        (number) =>
          number === this.#accept || this.#states[number]!.set !== null || this.#states[number]!.inner,
      )
      .sort((a, b) => a - b);
  }
}

function isAccepted({ language, at }: NonNullable<State["inner"]>): boolean {
  return language.isComplement ? !at[0]!.accepting : at.every(({ accepting }) => accepting);
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
