/** The rules of synonym filters, in the form of Solr or of WordNet. */

import { type Options, readBoolean, readString } from "#hub/engine/analysis/parts/options.ts";
import { words } from "#hub/engine/analysis/parts/stop-words.ts";
import type { ChainSoFar } from "#hub/engine/analysis/parts/token.ts";

/** Rules that a filter has at most: each takes memory of the index for as long as it is open. */
const MAX_RULES = 100_000;

/** An input and what stands for it. */
export interface Rule {
  readonly input: readonly string[];
  readonly outputs: (readonly string[])[];
  keepsInput: boolean;
}

/** The rules whose input begins with a word, the longest first. */
export type RuleTable = ReadonlyMap<string, readonly Rule[]>;

/** Reads rules in the form of Solr or, with `format: wordnet`, of WordNet. Throws RangeError with the rule that is wrong. */
export function readRules(options: Options, chain: ChainSoFar): RuleTable {
  const rows = Array.isArray(options["synonyms"])
    ? options["synonyms"].map(String)
    : words(options, "synonyms", []);
  if (options["synonyms"] === undefined)
    throw new RangeError("synonym requires either `synonyms` or `synonyms_path` to be configured");
  if (rows.length > MAX_RULES)
    throw new RangeError(`[synonyms] has ${rows.length} rules; at most ${MAX_RULES} are allowed`);
  const rules = new RuleSet(chain, readBoolean(options, "lenient", false));
  const expand = readBoolean(options, "expand", true);
  const format = readString(options, "format", "");
  if (format === "wordnet") addWordnet(rules, rows, expand);
  else for (const row of rows) addSolr(rules, row, expand);
  return rules.table();
}

/** Collects rules by their input. */
class RuleSet {
  readonly #chain: ChainSoFar;
  readonly #isLenient: boolean;
  readonly #rules = new Map<string, Rule>();

  constructor(chain: ChainSoFar, isLenient: boolean) {
    this.#chain = chain;
    this.#isLenient = isLenient;
  }

  /** Returns the words of a phrase by the chain; undefined if a wrong one may be left out. */
  analyze(phrase: string): readonly string[] | undefined {
    const tokens = this.#chain.tokens(phrase);
    if (tokens.length === 0) {
      if (this.#isLenient) return undefined;
      throw new RangeError(`term: ${phrase} was completely eliminated by analyzer`);
    }
    for (const [at, { text, position }] of tokens.entries()) {
      const step = position - (tokens[at - 1]?.position ?? -1);
      if (step === 1) continue;
      if (this.#isLenient) return undefined;
      throw new RangeError(
        `term: ${phrase} analyzed to a token (${text}) with position increment != 1 (got: ${step})`,
      );
    }
    return tokens.map(({ text }) => text);
  }

  add(input: readonly string[], output: readonly string[], keepsInput: boolean): void {
    const key = input.join("\0");
    const rule = this.#rules.get(key) ?? { input, outputs: [], keepsInput: false };
    this.#rules.set(key, rule);
    rule.keepsInput ||= keepsInput;
    const isKnown = rule.outputs.some((known) => known.join("\0") === output.join("\0"));
    if (!isKnown) rule.outputs.push(output);
  }

  table(): RuleTable {
    const table = new Map<string, Rule[]>();
    for (const rule of this.#rules.values()) {
      const first = rule.input[0]!;
      const known = table.get(first);
      if (known === undefined) table.set(first, [rule]);
      else known.push(rule);
    }
    for (const rules of table.values()) rules.sort((a, b) => b.input.length - a.input.length);
    return table;
  }
}

function addSolr(rules: RuleSet, row: string, expand: boolean): void {
  const line = row.trim();
  if (line === "" || line.startsWith("#")) return;
  const sides = line.split(/(?<!\\)=>/);
  if (sides.length > 2)
    throw new RangeError(`more than one explicit mapping specified on the same line: ${row}`);
  const [left, right] = sides.map((side) => phrasesOf(rules, side));
  if (right !== undefined) {
    for (const input of left!) for (const output of right) rules.add(input, output, false);
    return;
  }
  addEqual(rules, left!, expand);
}

function addEqual(rules: RuleSet, phrases: readonly (readonly string[])[], expand: boolean): void {
  for (const [at, input] of phrases.entries()) {
    if (!expand) rules.add(input, phrases[0]!, false);
    else for (const [other, output] of phrases.entries()) if (other !== at) rules.add(input, output, true);
  }
}

function phrasesOf(rules: RuleSet, side: string): (readonly string[])[] {
  return side
    .split(/(?<!\\),/)
    .map((phrase) => rules.analyze(phrase.replace(/\\(.)/g, "$1").trim()))
    .filter((phrase) => phrase !== undefined);
}

/** s(100000001,1,'abstain',v,1,0). Words with one number are equal. */
function addWordnet(rules: RuleSet, rows: readonly string[], expand: boolean): void {
  const groups = new Map<string, (readonly string[])[]>();
  for (const row of rows) {
    const match = /^s\((\d+),\d+,'((?:[^']|'')*)'/.exec(row.trim());
    if (match === null) throw new RangeError(`Invalid synonym rule: ${row}`);
    const phrase = rules.analyze(match[2]!.replaceAll("''", "'"));
    const group = groups.get(match[1]!) ?? [];
    groups.set(match[1]!, group);
    if (phrase !== undefined) group.push(phrase);
  }
  for (const group of groups.values()) addEqual(rules, group, expand);
}
