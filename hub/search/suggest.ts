/** Runs the `suggest` part of a search, each suggestion by name, on shards of this thread or of several hosts. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { NO_MORE_DOCS, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { askHosts } from "#hub/search/phases/ask-hosts.ts";
import { prepareNested } from "#hub/search/phases/prepare-search.ts";
import type { HostShards } from "#hub/search/phases/scatter.ts";
import type { PartialResult, SearchDemand } from "#hub/search/phases/search-call.ts";
import { type SearchLimits, ShardContext } from "#hub/search/query/query.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import { ALL_SOURCE, parseSourceFilter } from "#hub/search/source/source-filter.ts";
import { type CompletionText, completionSuggester } from "#hub/search/suggest/completion.ts";
import { phraseSuggester } from "#hub/search/suggest/phrase.ts";
import type { Suggester, SuggestNotes, SuggestShard } from "#hub/search/suggest/suggester.ts";
import { termSuggester } from "#hub/search/suggest/term.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { allFailed, type SearchOptions, type SearchShard, type ShardFailure } from "./phases/contract.ts";

/** Maximum number of suggestions of one request. */
const MAX_SUGGESTIONS = 100;

const KINDS = ["term", "phrase", "completion"] as const;

/** A suggestion with its name in the answer. */
export interface NamedSuggester {
  readonly name: string;
  readonly suggester: Suggester;
}

/** Results of suggesters, by name. */
export interface Suggestions {
  readonly suggest: JsonObject;
  /** True: the time was over; the result is what was found until then. */
  readonly timedOut: boolean;
  /** True: there was more than is examined. */
  readonly isCut: boolean;
  /** Shards that could not be queried. */
  readonly failures: readonly ShardFailure[];
}

/** Reads `suggest` of a search's body. Throws parsing, request_invalid, not_offered. */
export function parseSuggest(
  { suggest: body, _source: wanted }: JsonObject,
  { maxRegexLength }: Pick<SearchLimits, "maxRegexLength">,
): NamedSuggester[] {
  const source = wanted === undefined ? ALL_SOURCE : parseSourceFilter(wanted);
  if (!isObject(body)) throw new AppError("parsing", "[suggest] must be an object of suggestions by name");
  const { text: shared, ...named } = body;
  const entries = Object.entries(named);
  if (entries.length > MAX_SUGGESTIONS)
    throw new AppError(
      "request_invalid",
      `[suggest] has ${entries.length} suggestions, more than ${MAX_SUGGESTIONS}`,
    );
  return entries.map(([name, one]) => ({
    name,
    suggester: parseOne(name, one, { shared, maxRegexLength, source }),
  }));
}

/** Result of the shards of one host. Plain data, so that it can be sent. */
interface PartialSuggestions {
  /** Shards that were queried. */
  readonly asked: number;
  /** Shards that could not be queried, by their order. */
  readonly failures: PartialResult["failures"];
  /** States of the suggesters, in their order. */
  readonly states: readonly unknown[];
  readonly timedOut: boolean;
  readonly isCut: boolean;
}

type SuggestOptions = Pick<SearchOptions, "signal" | "clock" | "typedKeys">;

/**
 * Runs suggestions over all shards that can be queried. Throws the error of one if none can, what a suggester throws,
 * cancelled.
 */
export async function suggest(
  suggesters: readonly NamedSuggester[],
  shards: readonly SearchShard[],
  options: SuggestOptions,
  timeoutMs?: number,
): Promise<Suggestions> {
  const partial = await collectSuggestions(suggesters, shards, options, timeoutMs);
  return mergeSuggestions(suggesters, [partial], options);
}

/** Collects the results of the shards of one host. Throws cancelled, memory_limit. */
export async function collectSuggestions(
  suggesters: readonly NamedSuggester[],
  shards: readonly SearchShard[],
  options: SuggestOptions,
  timeoutMs?: number,
): Promise<PartialSuggestions> {
  const clock = options.clock ?? systemClock;
  const control = new SearchControl(clock, options.signal, timeoutMs);
  const failures: PartialResult["failures"][number][] = [];
  const usable: SuggestShard[] = [];
  for (const [at, shard] of shards.entries()) {
    const context = new ShardContext(shard.index, shard.shard, shard.searcher, clock.now());
    await prepareNested(context, control, shard.filterPaths);
    const made = suggestShard(shard, shard.order ?? at, context);
    const error = faultOf(made, suggesters);
    const failure = { index: shard.index.name, indexUuid: shard.index.uuid, shard: shard.shard };
    if (error === undefined) usable.push(made);
    else failures.push({ order: made.order, failure: { ...failure, error } });
  }
  const notes: SuggestNotes = { isCut: false };
  const states: unknown[] = [];
  if (usable.length > 0)
    for (const { suggester } of suggesters) states.push(await suggester.collect(usable, control, notes));
  return { asked: usable.length, failures, states, timedOut: control.timedOut, isCut: notes.isCut };
}

/** Runs the suggestions of `demand.body.suggest`, which are `suggesters`. Throws as suggest does. */
export async function suggestOnHosts(
  suggesters: readonly NamedSuggester[],
  demand: SearchDemand,
  targets: readonly HostShards[],
  signal: AbortSignal,
): Promise<Suggestions> {
  const partials = await askHosts(targets, signal, {
    ask: ({ host, shards }, either) =>
      host.partial<PartialSuggestions>("suggest", { ...demand, shards }, either),
    unanswered: (failures): PartialSuggestions => {
      return { asked: 0, failures, states: [], timedOut: false, isCut: false };
    },
  });
  return mergeSuggestions(suggesters, partials, demand);
}

/** Merges the results of hosts. Throws the error of a shard if none could be queried, and what a suggester throws. */
function mergeSuggestions(
  suggesters: readonly NamedSuggester[],
  partials: readonly PartialSuggestions[],
  { typedKeys }: Pick<SuggestOptions, "typedKeys">,
): Suggestions {
  const failures = partials
    .flatMap((partial) => partial.failures)
    .toSorted((a, b) => a.order - b.order)
    .map(({ failure }) => failure);
  const asked = partials.filter((partial) => partial.asked > 0);
  if (asked.length === 0 && failures.length > 0) throw allFailed(failures);
  const answer: JsonObject = {};
  for (const [at, { name, suggester }] of suggesters.entries()) {
    const key = typedKeys === true ? `${suggester.kind}#${name}` : name;
    answer[key] = suggester.merge(asked.map(({ states }) => states[at]));
  }
  return {
    suggest: answer,
    timedOut: partials.some(({ timedOut }) => timedOut),
    isCut: partials.some(({ isCut }) => isCut),
    failures,
  };
}

/** Returns why a shard can't be queried; undefined if it can. */
function faultOf(shard: SuggestShard, suggesters: readonly NamedSuggester[]): AppError | undefined {
  try {
    for (const { suggester } of suggesters) suggester.check?.(shard);
    return undefined;
  } catch (error) {
    return toAppError(error);
  }
}

function parseOne(
  name: string,
  body: unknown,
  { shared, ...more }: { readonly shared: unknown } & Pick<CompletionText, "maxRegexLength" | "source">,
): Suggester {
  if (!isObject(body)) throw new AppError("parsing", `suggestion [${name}] must be an object`);
  const { text = shared, prefix, regex, ...rest } = body;
  const [kind, ...others] = Object.keys(rest);
  const options = rest[kind ?? ""];
  if (kind === undefined || others.length > 0 || !isObject(options))
    throw new AppError("parsing", `suggestion [${name}] needs one of ${KINDS.join(", ")}, an object`);
  const given = prefix ?? regex ?? text;
  if (given === undefined || given === null)
    throw new AppError("request_invalid", `The required text option is missing: suggestion [${name}]`);
  const wanted = scalarText(given, "text");
  if (kind === "completion") {
    const isRegexp = prefix === undefined && regex !== undefined;
    return completionSuggester({ text: wanted, isRegexp, ...more }, options);
  }
  if (kind === "term") return termSuggester(wanted, options);
  if (kind === "phrase") return phraseSuggester(wanted, options);
  throw new AppError("parsing", `suggestion [${name}]: there is no [${kind}]${didYouMean(kind, KINDS)}`);
}

function suggestShard({ filter }: SearchShard, order: number, context: ShardContext): SuggestShard {
  const weight = filter?.weight(context, { scores: false, boost: 1 });
  return {
    context,
    order,
    visible(segment: SegmentReader): Bitset | null {
      if (weight === undefined) return null;
      const set = new Bitset(segment.docCount);
      const scorer = weight.scorer(segment);
      for (let doc = scorer?.next() ?? NO_MORE_DOCS; doc !== NO_MORE_DOCS; doc = scorer!.next()) set.add(doc);
      return set;
    },
  };
}
