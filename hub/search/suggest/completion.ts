/** `completion`: inputs of completion fields that begin with a text, the highest weight first. */

import { completionTerm } from "#hub/engine/documents/completions.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { NO_MORE_DOCS, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { checkRegexpLength } from "#hub/search/fields/pattern-query.ts";
import { RawJson } from "#hub/search/options/json-writer.ts";
import {
  anything,
  flag,
  hint,
  integer,
  object,
  readOptions,
  required,
  text,
  withoutEffect,
} from "#hub/search/options/options.ts";
import { compileRegexp } from "#hub/search/patterns/automaton.ts";
import { automaticEdits, beginsWithinEdits } from "#hub/search/patterns/edit-distance.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { filterSource, type SourceFilter } from "#hub/search/source/source-filter.ts";
import { sourcePath } from "#hub/search/source/source-values.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { singleFraction } from "#proto/kit/number-text.ts";
import { type ContextMatch, type ContextTest, contextTest, readAsked } from "./contexts.ts";
import type { Suggested, Suggester, SuggestNotes, SuggestShard } from "./suggester.ts";

/**
 * Maximum number of a shard's documents whose weights are examined; those after them, in the order of their inputs, are
 * ignored.
 */
const MAX_CANDIDATES = 10_000;

/** Options of a completion suggestion. */
export const COMPLETION_OPTIONS = {
  field: required(text("a field of type completion", undefined)),
  size: integer("suggestions to return", 5, 1),
  skip_duplicates: flag("whether a text is suggested once only", false),
  fuzzy: anything("true, or an object: also what begins similarly"),
  regex: hint(object("[regex] is read with all its operators")),
  analyzer: withoutEffect(text("the analyzer of the field is taken", undefined)),
  shard_size: hint(integer("each shard returns as many as an exact answer needs", undefined)),
  contexts: object("categories or locations, by the name of the context"),
} as const;

/** Options of [fuzzy] in a completion suggestion. */
export const FUZZY_COMPLETION_OPTIONS = {
  fuzziness: text("edits: AUTO, 0, 1 or 2", "AUTO"),
  transpositions: withoutEffect(flag("two transposed letters are always one edit", true)),
  min_length: integer("length of a text from which on it is fuzzy", 3),
  prefix_length: integer("letters at the beginning that must be as given", 1),
  unicode_aware: withoutEffect(flag("letters are compared, not bytes", true)),
  max_determinized_states: hint(integer("the size of an automaton is bounded in any case", 10_000)),
} as const;

/** The match of an input. */
interface Wanted {
  /** The common prefix of all matching terms. */
  readonly prefix: string;
  readonly accepts: (term: string) => boolean;
}

/** The same, with the match of an input's contexts. */
interface WantedInputs extends Wanted {
  readonly test: ContextTest;
}

interface Candidate {
  readonly text: string;
  /** With the factor of its contexts. */
  readonly weight: number;
  /** Those that it was found by. */
  readonly contexts: ContextMatch["contexts"];
  readonly shard: SuggestShard;
  readonly segment: SegmentReader;
  readonly doc: number;
}

/** The best of one host. Plain data. */
interface CompletionState {
  /** False if no shard has the field. */
  readonly hasField: boolean;
  readonly found: readonly FoundCompletion[];
}

interface FoundCompletion {
  readonly text: string;
  readonly weight: number;
  /** Of its shard. */
  readonly order: number;
  readonly option: JsonObject;
}

/** Kind of the text: literal, or a regular expression. */
export interface CompletionText {
  readonly text: string;
  readonly isRegexp: boolean;
  /** Characters of a regular expression. */
  readonly maxRegexLength: number;
  /** Parts of the documents that are returned. */
  readonly source: SourceFilter | false;
}

/** Reads a completion suggestion. Throws parsing, request_invalid, not_offered. */
export function completionSuggester(given: CompletionText, body: JsonObject): Suggester<CompletionState> {
  const options = readOptions("completion", body, COMPLETION_OPTIONS, "option");
  const asked = readAsked(options.contexts);
  const wanted = wantedOf(given, options.fuzzy);
  const { field, size, skip_duplicates: once } = options;
  return {
    kind: "completion",
    check({ context }) {
      const type = context.mapping.resolve(field)?.type ?? "completion";
      if (type !== "completion")
        throw new AppError("request_invalid", `Field [${field}] is not a completion suggest field`);
    },
    async collect(shards, control, notes) {
      const found: Candidate[] = [];
      const withField = fieldsOf(shards, field);
      for (const { shard, field: indexed } of withField) {
        const fitting = { ...wanted, test: contextTest(indexed, asked) };
        found.push(...(await candidates(shard, indexed, fitting, control, notes)));
      }
      const ranked = found.map((each) => ({ ...each, order: each.shard.order }));
      return {
        hasField: withField.length > 0,
        found: firstOf(ranked, size, once).map((each) => ({
          text: each.text,
          weight: each.weight,
          order: each.order,
          option: printOption(each, given.source),
        })),
      };
    },
    merge(states) {
      if (states.length > 0 && !states.some(({ hasField }) => hasField))
        throw new AppError("request_invalid", `no mapping found for field [${field}]`);
      const found = states.flatMap((state) => state.found);
      const options = firstOf(found, size, once).map(({ option }) => option);
      return [{ text: given.text, offset: 0, length: given.text.length, options }] as Suggested[];
    },
  };
}

/** Returns the first by weight, then by text, then by shard. `once`: only the first of each text. */
function firstOf<T extends Pick<FoundCompletion, "text" | "weight" | "order">>(
  found: readonly T[],
  size: number,
  once: boolean,
): T[] {
  const sorted = found.toSorted(
    (a, b) => b.weight - a.weight || (a.text < b.text ? -1 : a.text > b.text ? 1 : a.order - b.order),
  );
  const texts = new Set<string>();
  return sorted.filter(({ text: own }) => !once || (!texts.has(own) && texts.add(own))).slice(0, size);
}

function wantedOf({ text: given, isRegexp, maxRegexLength }: CompletionText, fuzzy: unknown): Wanted {
  if (isRegexp) {
    checkRegexpLength(given, maxRegexLength);
    const compiled = compileRegexp(`${given}.*`);
    return { prefix: compiled.prefix, accepts: (term) => compiled.matches(term) };
  }
  const prefix = completionTerm(given, Number.POSITIVE_INFINITY);
  if (fuzzy === undefined || fuzzy === false) return { prefix, accepts: () => true };
  const options = readOptions("fuzzy", isObject(fuzzy) ? fuzzy : {}, FUZZY_COMPLETION_OPTIONS, "option");
  const { fuzziness, min_length: minLength, prefix_length: kept } = options;
  const edits = /^auto/i.test(fuzziness) ? automaticEdits(prefix) : Math.min(2, Number(fuzziness));
  if (!(edits >= 0)) throw new AppError("parsing", `[fuzzy] [fuzziness] must be AUTO, 0, 1 or 2`);
  if (prefix.length < minLength || edits === 0) return { prefix, accepts: () => true };
  return { prefix: prefix.slice(0, kept), accepts: beginsWithinEdits(prefix, edits) };
}

/** Shards that have the field. */
function fieldsOf(
  shards: readonly SuggestShard[],
  name: string,
): { readonly shard: SuggestShard; readonly field: Field }[] {
  return shards.flatMap((shard) => {
    const field = shard.context.mapping.resolve(name);
    return field === undefined ? [] : [{ shard, field }];
  });
}

/** Matching documents, each once with its input of the greatest weight. */
async function candidates(
  shard: SuggestShard,
  field: Field,
  wanted: WantedInputs,
  control: SearchControl,
  notes: SuggestNotes,
): Promise<Candidate[]> {
  const all: Candidate[] = [];
  const path = sourcePath(field, shard.context);
  for (const segment of shard.context.searcher.segments) {
    const best = new Map<number, Candidate>();
    const visible = shard.visible(segment);
    const terms = segment.terms(field.path)?.prefix(wanted.prefix);
    while (!notes.isCut && terms?.next() === true && !control.timedOut) {
      if (control.isDue) await control.pause();
      const term = terms.text();
      if (!wanted.accepts(term)) continue;
      const postings = terms.postings();
      for (let doc = postings.next(); doc !== NO_MORE_DOCS; doc = postings.next()) {
        if (!segment.isLive(doc) || visible?.has(doc) === false) continue;
        if (best.size + all.length >= MAX_CANDIDATES && !best.has(doc)) {
          notes.isCut = true;
          break;
        }
        const fits = (text: string): boolean => completionTerm(text, field.ignoreAbove) === term;
        const input = inputOf(segment.source(doc), path, fits, wanted.test);
        if (input === undefined || input.weight <= (best.get(doc)?.weight ?? -1)) continue;
        best.set(doc, { ...input, text: input.text ?? term, shard, segment, doc });
      }
    }
    all.push(...best.values());
  }
  return all;
}

/** A matching input of a document; the text is undefined if the document doesn't contain it literally. */
type FoundInput = Pick<Candidate, "weight" | "contexts"> & { readonly text: string | undefined };

/** The input of a document that `fits`, and whose contexts do, of the greatest weight; undefined if none does. */
function inputOf(
  source: Uint8Array,
  path: string,
  fits: (text: string) => boolean,
  test: ContextTest,
): FoundInput | undefined {
  const document = new RawJson(source).parse();
  let best: FoundInput | undefined;
  let isThere = false;
  for (const { text: input, weight, contexts: own } of inputs(document, path)) {
    if (!fits(input)) continue;
    isThere = true;
    const match = test(document, own);
    if (match === undefined || weight * match.boost <= (best?.weight ?? -1)) continue;
    best = { text: input, weight: weight * match.boost, contexts: match.contexts };
  }
  if (isThere) return best;
  const match = test(document, undefined);
  return match && { text: undefined, weight: match.boost, contexts: match.contexts };
}

/** Returns all inputs at a dotted path. */
function* inputs(
  value: unknown,
  path: string,
  weight = 1,
  contexts?: unknown,
): Iterable<{ readonly text: string; readonly weight: number; readonly contexts: unknown }> {
  if (Array.isArray(value)) {
    for (const item of value) yield* inputs(item, path);
  } else if (path !== "" && isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (key === path) yield* inputs(item, "");
      else if (path.startsWith(`${key}.`)) yield* inputs(item, path.slice(key.length + 1));
    }
  } else if (isObject(value)) {
    const given = value["input"];
    for (const input of Array.isArray(given) ? given : [given])
      yield* inputs(input, "", Number(value["weight"] ?? 1), value["contexts"]);
  } else if (typeof value === "string" || typeof value === "number")
    yield { text: String(value), weight, contexts };
}

function printOption(
  { text: input, weight, contexts, shard, segment, doc }: Candidate,
  wanted: SourceFilter | false,
): JsonObject {
  const { index, typeName } = shard.context;
  return {
    text: input,
    _index: index,
    _type: typeName,
    _id: segment.id(doc),
    _score: singleFraction(weight),
    ...(wanted !== false && { _source: filterSource(segment.source(doc).slice(), wanted) }),
    ...(Object.keys(contexts).length > 0 && { contexts }),
  };
}
