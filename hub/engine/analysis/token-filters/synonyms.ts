/** `synonym` and `synonym_graph`: words and word sequences that are replaced by others. */

import type { Options } from "#hub/engine/analysis/parts/options.ts";
import type { ChainSoFar, Token, TokenFilter } from "#hub/engine/analysis/parts/token.ts";
import { type Rule, type RuleTable, readRules } from "./synonym-rules.ts";

function matchAt(table: RuleTable, tokens: readonly Token[], at: number): Rule | undefined {
  return table
    .get(tokens[at]!.text)
    ?.find(({ input }) => input.every((word, offset) => tokens[at + offset]?.text === word));
}

/** `synonym`: words of an output of several share the positions of the words that follow. */
export function synonymFilter(options: Options, chain: ChainSoFar): TokenFilter {
  const table = readRules(options, chain);
  return (tokens) => new Overlay(table).run(tokens);
}

/** An output's word; `isFirst`: it has the offsets of the input, others those of the word at its position. */
interface Due {
  readonly token: Token;
  readonly isFirst: boolean;
}

/** Walks over the tokens and holds the words of outputs whose positions haven't been reached yet. */
class Overlay {
  readonly #table: RuleTable;
  readonly #found: Token[] = [];
  #due: Due[][] = [];
  #place = -1;
  /** Positions that were removed with words whose output takes fewer. */
  #moved = 0;

  constructor(table: RuleTable) {
    this.#table = table;
  }

  run(tokens: readonly Token[]): Token[] {
    for (let at = 0; at < tokens.length; ) {
      const rule = matchAt(this.#table, tokens, at);
      if (rule === undefined) this.#advance(tokens[at]!);
      else this.#replace(tokens.slice(at, at + rule.input.length), rule);
      at += rule?.input.length ?? 1;
    }
    while (this.#due.length > 0) this.#step(undefined);
    return this.#found;
  }

  #replace(matched: readonly Token[], rule: Rule): void {
    const first = matched[0]!;
    this.#hold(matched, rule, first.position - this.#moved - this.#place - 1);
    if (rule.keepsInput) {
      for (const token of matched) this.#advance(token);
      return;
    }
    const place = first.position - this.#moved;
    while (this.#place < place) this.#step(undefined);
    this.#moved += matched.at(-1)!.position - first.position;
  }

  /** Moves to the token's position. */
  #advance(token: Token): void {
    const position = token.position - this.#moved;
    if (this.#place === position) this.#found.push({ ...token, position });
    while (this.#place < position)
      this.#step(this.#place + 1 === position ? { ...token, position } : undefined);
  }

  #step(over: Token | undefined): void {
    this.#place++;
    if (over !== undefined) this.#found.push(over);
    for (const { token, isFirst } of this.#due.shift() ?? []) {
      const offsets =
        over === undefined || isFirst ? {} : { startOffset: over.startOffset, endOffset: over.endOffset };
      this.#found.push({ ...token, ...offsets, position: this.#place });
    }
  }

  /** Keeps the words of the outputs for the positions from `gap` on. */
  #hold(matched: readonly Token[], rule: Rule, gap: number): void {
    const first = matched[0]!;
    const { endOffset } = matched.at(-1)!;
    const spans = matched.length > 1 && rule.keepsInput;
    for (const output of rule.outputs) {
      for (const [offset, text] of output.entries()) {
        while (this.#due.length <= gap + offset) this.#due.push([]);
        const token: Token = {
          text,
          startOffset: first.startOffset,
          endOffset,
          type: "SYNONYM",
          position: 0,
          ...(spans && output.length === 1 ? { positionLength: matched.length } : {}),
        };
        this.#due[gap + offset]!.push({ token, isFirst: offset === 0 });
      }
    }
  }
}

/** `synonym_graph`: each output is a path of its own from the first position of the input to the last. */
export function synonymGraphFilter(options: Options, chain: ChainSoFar): TokenFilter {
  const table = readRules(options, chain);
  return (tokens) => {
    let shift = 0;
    const found: Token[] = [];
    for (let at = 0; at < tokens.length; ) {
      const rule = matchAt(table, tokens, at);
      const token = tokens[at]!;
      if (rule === undefined) {
        found.push({ ...token, position: token.position + shift });
        at++;
        continue;
      }
      const matched = tokens.slice(at, at + rule.input.length);
      const last = matched.at(-1)!;
      const ways = waysOf(rule, matched);
      const inner = ways.reduce((sum, way) => sum + way.length - 1, 0);
      found.push(...routed(ways, token.position + shift, inner + 1));
      shift += inner - (last.position - token.position);
      at += matched.length;
    }
    return found;
  };
}

function waysOf(rule: Rule, matched: readonly Token[]): (readonly Token[])[] {
  const first = matched[0]!;
  const { endOffset } = matched.at(-1)!;
  const ways: (readonly Token[])[] = rule.outputs.map((output) =>
    output.map((text) => ({ text, startOffset: first.startOffset, endOffset, type: "SYNONYM", position: 0 })),
  );
  return rule.keepsInput ? [...ways, matched] : ways;
}

/** The first tokens of all paths are at the start; the others take positions of their own, path by path. */
function routed(ways: readonly (readonly Token[])[], start: number, length: number): Token[] {
  const end = start + length;
  const placed: Token[] = [];
  let next = start + 1;
  for (const way of ways) {
    let from = start;
    for (const [at, token] of way.entries()) {
      const to = at === way.length - 1 ? end : next++;
      const { positionLength: _, ...rest } = token;
      placed.push({ ...rest, position: from, ...(to - from > 1 ? { positionLength: to - from } : {}) });
      from = to;
    }
  }
  return placed.sort((a, b) => a.position - b.position);
}
