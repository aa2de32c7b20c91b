/**
 * Lines for queries of Loki's data source: documents with a time, newest or oldest first, read in pages. Line filters
 * become index queries, which exclude most lines that don't match before they are read.
 */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import type { Entry } from "#hub/api/logql/entry.ts";
import { finds, wholeExpression } from "#hub/api/logql/expressions.ts";
import { fieldReader, LabelFields, lineOf, streamLabels } from "#hub/api/logql/label-fields.ts";
import { Pace } from "#hub/api/logql/pace.ts";
import { compileStages } from "#hub/api/logql/stages.ts";
import type { LogQuery, Matcher, Stage } from "#hub/api/logql/syntax.ts";
import { runSearch } from "#hub/api/routes/search/run-search.ts";
import type { Found } from "#hub/host/contract/found.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Maximum number of words searched in the index; each costs a scan of its terms. */
const MAX_WORDS = 4;
/** Length of the longest word that can be a single term. */
const MAX_WORD = 255;
/**
 * Words longer than 255 UTF-16 units are split, so a part of such a word may be in no single term. Their terms have at
 * least 127 characters because each character has one or two units.
 */
const LONG_TERM = `${"?".repeat(127)}*`;

/** Documents of one page: less than the maximum of a search, which is more than a page of lines needs. */
const PAGE = 5_000;
/** Limits of one request, for all reads of its query together. */
const LIMITS = { lines: 200_000, timeMs: 120_000 };
/** Maximum number of a label's values that an expression is compared with. */
const MAX_VALUES = 10_000;

/** A span of time, ms since 1970-01-01 UTC: from `startMs` on, before `endMs`. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** A line with its time. */
export interface TimedEntry extends Entry {
  readonly timeMs: number;
}

interface Hit {
  readonly _index: string;
  readonly _id: string;
  readonly _source: JsonObject;
  readonly sort: readonly [number];
}

/** Reads the lines for one request. */
export class LogSource {
  readonly fields: LabelFields;
  /** Pace of the whole request. */
  readonly pace: Pace;
  readonly #maxLines: number;
  /** Documents read so far. */
  #read = 0;
  readonly #parts: ApiContext;
  readonly #request: ApiRequest;
  readonly #expression: string;

  constructor(parts: ApiContext, request: ApiRequest, limits = LIMITS) {
    this.#parts = parts;
    this.#request = request;
    this.#maxLines = limits.lines;
    this.pace = new Pace(request.signal, parts.clock, limits.timeMs);
    const indices = parts.indices
      .resolve("*", { allowNoIndices: true, ignoreUnavailable: true })
      .filter(({ mapping, state }) => state === "open" && mapping.resolve("@timestamp") !== undefined);
    this.#expression = indices.map(({ name }) => name).join(",");
    this.fields = new LabelFields(indices);
  }

  /** Searches the indices with times; undefined if there are none. Throws timeout, cancelled. */
  async search(body: JsonObject): Promise<Found | undefined> {
    this.pace.check();
    if (this.#expression === "") return undefined;
    const found = await runSearch(this.#parts, {
      target: {
        expression: this.#expression,
        types: undefined,
        options: { allowNoIndices: true, ignoreUnavailable: true },
      },
      body,
      typedKeys: false,
      objectTotals: false,
      allowPartial: false,
      useCache: false,
      signal: this.#request.signal,
    });
    if (found.timedOut) throw new AppError("timeout", "context deadline exceeded: narrow the time range");
    return found;
  }

  /** Returns the query for the documents that match `matchers` within a span. Throws request_invalid. */
  async filter(matchers: readonly Matcher[], span: Span): Promise<JsonObject> {
    const clauses = await Promise.all(matchers.map((matcher) => this.#clause(matcher, within(span))));
    return { bool: { filter: [within(span), ...clauses] } };
  }

  /** Returns the most frequent values of a label in the documents that match a query. */
  async values(label: string, query: JsonObject, limit: number): Promise<string[]> {
    const fields = this.fields.of(label);
    if (fields.length === 0) return [];
    const aggs = Object.fromEntries(fields.map((field, at) => [`f${at}`, { terms: { field, size: limit } }]));
    const found = await this.search({ size: 0, query, aggs });
    const answers = Object.values((found?.aggregations?.parse() ?? {}) as Record<string, JsonObject>);
    const values = answers.flatMap(({ buckets }) =>
      (buckets as JsonObject[]).map((bucket) => String(bucket["key_as_string"] ?? bucket["key"])),
    );
    return [...new Set(values)].sort();
  }

  /**
   * Calls `each` with the lines that pass a query, until it returns false. Throws request_invalid if it would read too
   * many documents, timeout.
   */
  async read(
    query: LogQuery,
    span: Span,
    order: "asc" | "desc",
    each: (entry: TimedEntry) => boolean,
    pageSize = PAGE,
  ): Promise<void> {
    const keeps = compileStages(query.stages);
    const words = this.fields.hasWords ? wordClauses(query.stages) : [];
    const { pace } = this;
    const filter = await this.filter(query.matchers, span);
    let rest = span;
    let seen = new Set<string>();
    for (;;) {
      const body = {
        size: pageSize,
        query: { bool: { filter: [within(rest), filter, ...words] } },
        sort: [{ "@timestamp": { order, unmapped_type: "date" } }],
      };
      const found = await this.search({ ...body, track_total_hits: false });
      const hits = (found?.hits.parse() ?? []) as Hit[];
      const fresh = hits.filter((hit) => !seen.has(`${hit._index}/${hit._id}`));
      for (const hit of fresh) {
        if (pace.isDue) await pace.pause();
        if (++this.#read > this.#maxLines)
          throw new AppError(
            "request_invalid",
            `the query would read more than ${this.#maxLines} lines: narrow the time range, or add matchers`,
          );
        const entry = this.#entryOf(hit);
        if ((await keeps(entry, pace)) && !each(entry)) return;
      }
      if (hits.length < pageSize) return;
      const lastMs = hits.at(-1)!.sort[0];
      if (fresh.length === 0)
        throw new AppError(
          "request_invalid",
          `more than ${pageSize} lines have the time ${new Date(lastMs).toISOString()}: add matchers`,
        );
      // The next page begins at the last time because more lines may have it.
      seen = new Set(hits.filter(({ sort }) => sort[0] === lastMs).map((hit) => `${hit._index}/${hit._id}`));
      rest =
        order === "desc"
          ? { startMs: rest.startMs, endMs: lastMs + 1 }
          : { startMs: lastMs, endMs: rest.endMs };
    }
  }

  #entryOf({ _index: index, _source: source, sort }: Hit): TimedEntry {
    const stream = streamLabels(source);
    return {
      line: lineOf(source),
      labels: new Map(stream),
      stream,
      extracted: new Set(),
      field: fieldReader(this.fields, source, index),
      value: undefined,
      work: 0,
      timeMs: sort[0],
    };
  }

  async #clause({ label, operator, value }: Matcher, time: JsonObject): Promise<JsonObject> {
    const fields = this.fields.of(label);
    const exists = anyOf(fields.map((field) => ({ exists: { field } })));
    if (operator === "=" || operator === "!=") {
      const found = value === "" ? not(exists) : equal(this.fields.holding(label, value), value);
      return operator === "=" ? found : not(found);
    }
    const expression = wholeExpression(value);
    const values = await this.#matching(label, value, expression, time);
    const found = anyOf(values.map((each) => equal(this.fields.holding(label, each), each)));
    const all = finds(expression, "") ? anyOf([found, not(exists)]) : found;
    return operator === "=~" ? all : not(all);
  }

  /** Returns the values of a label that an expression matches. */
  async #matching(label: string, text: string, expression: RegExp, time: JsonObject): Promise<string[]> {
    if (/^[\w -]+(?:\|[\w -]+)*$/.test(text)) return text.split("|");
    const values = await this.values(label, time, MAX_VALUES);
    if (values.length >= MAX_VALUES)
      throw new AppError(
        "request_invalid",
        `the label ${label} has more than ${MAX_VALUES} values: compare it with =, or filter by the line`,
      );
    return values.filter((each) => finds(expression, each));
  }
}

function within({ startMs, endMs }: Span): JsonObject {
  return { range: { "@timestamp": { gte: startMs, lt: endMs, format: "epoch_millis" } } };
}

function anyOf(queries: readonly JsonObject[]): JsonObject {
  return queries.length === 0 ? { match_none: {} } : { bool: { should: queries, minimum_should_match: 1 } };
}

function not(query: JsonObject): JsonObject {
  return { bool: { must_not: [query] } };
}

function equal(fields: readonly string[], value: string): JsonObject {
  return anyOf(fields.map((field) => ({ term: { [field]: value } })));
}

/**
 * Returns queries that match every line with the texts of the first filters. A word of the text may be part of a word of
 * the line, and the line of a document without a message is made of other fields.
 */
function wordClauses(stages: readonly Stage[]): JsonObject[] {
  const words: string[] = [];
  for (const stage of stages) {
    if (stage.kind !== "line") break;
    const [text = ""] = stage.values;
    if (stage.operator === "|=" && stage.values.length + stage.addresses.length === 1)
      words.push(...(text.match(/[A-Za-z0-9]{2,}/g) ?? []).filter(({ length }) => length <= MAX_WORD));
  }
  if (words.length === 0) return [];
  const clauses = words
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS)
    .map((word) => ({ wildcard: { message: `*${word.toLowerCase()}*` } }));
  const should = [
    { bool: { filter: clauses } },
    { wildcard: { message: LONG_TERM } },
    { bool: { must_not: [{ exists: { field: "message" } }] } },
  ];
  return [{ bool: { should, minimum_should_match: 1 } }];
}
