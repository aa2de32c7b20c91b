/** Loads the parts of a hit for an answer: source, fields, highlights, explanation. */

import { printNanos } from "#hub/engine/mapping/date-nanos.ts";
import { columnKind, type Field } from "#hub/engine/mapping/field.ts";
import { parseDocument } from "#hub/scripts/values/json.ts";
import { isNumeric } from "#hub/search/columns/column-values.ts";
import { formatOf, printValue } from "#hub/search/columns/value-format.ts";
import type { RankedHit, RescorePass } from "#hub/search/execute/hits/ranked-hit.ts";
import {
  explainQuery,
  match,
  type PrintedExplanation,
  printExplanation,
} from "#hub/search/explain/explanation.ts";
import { Highlighter } from "#hub/search/highlight/highlighter.ts";
import { parseStored, shortest } from "#hub/search/options/json.ts";
import { exactValue, RawJson } from "#hub/search/options/json-writer.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { Explanation, Query, ShardContext, Weight } from "#hub/search/query/query.ts";
import { DocValues } from "#hub/search/scripting/doc-values.ts";
import { fieldOn } from "#hub/search/scripting/document-script.ts";
import { isByScore } from "#hub/search/sort/sort-request.ts";
import { filterSource, type SourceFilter, shownSource } from "#hub/search/source/source-filter.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";
import { DocumentFields } from "./document-fields.ts";
import type { FetchOptions, FieldRequest, InnerHits } from "./fetch-request.ts";
import { type FetchObject, InnerHitsSearch, nestedIdentity, nestedPart } from "./inner-hits.ts";

/** A hit in the form of the answer, key by key. */
export type Hit = JsonObject;

export interface FetchContext {
  readonly options: FetchOptions;
  /** Marks what it finds. */
  readonly query: Query;
  /** True: `sort` is shown, and scores only if they were tracked. */
  readonly sorted: boolean;
  /** Factor of all scores of the shard's index; 1 without it. */
  readonly boost?: number;
  /** Node that the shard is on, for explanations. */
  readonly nodeId?: string | undefined;
  /** Field that hits are collapsed on. Its value in `fields` is that of the column, whatever else is to be shown by its name. */
  readonly collapseField?: string | undefined;
}

/** Fetches hits of one shard. */
export class HitFetcher {
  readonly #context: FetchContext;
  readonly #shard: ShardContext;
  readonly #highlighter: Highlighter | undefined;
  readonly #documentFields: DocumentFields;
  readonly #named: readonly (readonly [name: string, weight: Weight])[];
  readonly #inner: readonly (readonly [name: string, search: InnerHitsSearch])[];
  readonly #scripts: readonly {
    readonly name: string;
    readonly ignoresFailure: boolean;
    readonly make: ReturnType<typeof fieldOn>;
  }[];

  constructor(context: FetchContext, shard: ShardContext) {
    this.#context = context;
    this.#shard = shard;
    const { highlight, named, scripts, innerHits = [] } = context.options;
    this.#inner = innerHits.map((each) => [each.name, new InnerHitsSearch(each, shard, objectFetcher)]);
    const doc = new DocValues(shard);
    this.#scripts = scripts.map(({ name, script, ignoresFailure }) => ({
      name,
      ignoresFailure,
      make: fieldOn(script, doc),
    }));
    this.#named = [...named].map(([name, query]) => [name, query.weight(shard, { scores: false, boost: 1 })]);
    this.#documentFields = new DocumentFields(context.options, shard);
    this.#highlighter =
      highlight === undefined ? undefined : new Highlighter(highlight, context.query, shard);
  }

  fetch(hit: RankedHit): Hit {
    const { options, sorted } = this.#context;
    const { segment, doc } = hit;
    const score = sorted ? hit.score : (hit.sort[0] as number);
    const answer: JsonObject = options.explain ? this.#place() : {};
    answer["_index"] = this.#shard.index;
    if (!options.bare) Object.assign(answer, { _type: this.#shard.typeName, _id: segment.id(doc) });
    const { scope } = this.#shard;
    if (scope.path !== "") answer["_nested"] = nestedIdentity(scope, segment, doc);
    if (options.version) answer["_version"] = segment.version(doc);
    if (options.sequence) Object.assign(answer, { _seq_no: segment.seqNo(doc), _primary_term: 1 });
    answer["_score"] = Number.isNaN(score) ? null : score;
    this.#addParts(answer, hit);
    if (sorted) answer["sort"] = hit.sort;
    const matched = this.#named.filter(([, weight]) => weight.scorer(segment)?.advance(doc) === doc);
    if (matched.length > 0) answer["matched_queries"] = matched.map(([name]) => name);
    if (options.explain) answer["_explanation"] = this.#explanation(hit);
    if (this.#inner.length > 0)
      answer["inner_hits"] = Object.fromEntries(
        this.#inner.map(([name, search]) => [name, search.of(segment, doc)]),
      );
    return answer;
  }

  #place(): JsonObject {
    const { index, shard } = this.#shard;
    const { nodeId } = this.#context;
    return { _shard: `[${index}][${shard}]`, ...(nodeId !== undefined && { _node: nodeId }) };
  }

  #explanation({ segment, doc, passes = [] }: RankedHit): PrintedExplanation {
    const { query, boost = 1 } = this.#context;
    const first = explainQuery(query, { shard: this.#shard.uncharged(), segment, doc, boost });
    return printExplanation(passes.reduce(explainPass, first));
  }

  #addParts(answer: JsonObject, { segment, doc }: RankedHit): void {
    const { options } = this.#context;
    if (options.bare) {
      const made = this.#withCollapsed(
        { ...this.#columns({ segment, doc }), ...this.#scripted({ segment, doc }) },
        { segment, doc },
      );
      if (Object.keys(made).length > 0) answer["fields"] = made;
      return;
    }
    const routing = segment.routing(doc);
    if (routing !== undefined) answer["_routing"] = routing;
    const ignored = segment.ignored(doc);
    if (ignored.length > 0) answer["_ignored"] = ignored;
    const needsDocument = this.#documentFields.areWanted || this.#highlighter !== undefined;
    const hasFields = options.columns.length > 0 || options.scripts.length > 0;
    if (options.source === false && !needsDocument && !hasFields) return;
    const bytes = options.source !== false || needsDocument ? segment.source(doc) : undefined;
    const shown = bytes === undefined ? undefined : shownSource(this.#shard.mapping, bytes);
    if (options.source !== false && shown !== undefined)
      answer["_source"] = this.#source(shown, options.source);
    const document =
      needsDocument && bytes !== undefined ? (parseStored(new RawJson(bytes).text) as JsonObject) : {};
    const fields = this.#withCollapsed(
      {
        ...this.#columns({ segment, doc }),
        ...this.#documentFields.of(document, ignored),
        ...this.#scripted({ segment, doc }),
      },
      { segment, doc },
    );
    if (Object.keys(fields).length > 0) answer["fields"] = fields;
    const highlight = this.#highlighter?.highlight(this.#documentFields.readable(document));
    if (highlight !== undefined) answer["highlight"] = highlight;
  }

  /** The document, or the object alone if that is nested. */
  #source(bytes: Uint8Array, filter: SourceFilter): RawJson | JsonObject {
    const { path } = this.#shard.scope;
    const filtered = filterSource(bytes, filter);
    if (path === "") return filtered;
    return nestedPart(filtered instanceof RawJson ? (exactValue(filtered) as JsonObject) : filtered, path);
  }

  #columns(hit: Pick<RankedHit, "segment" | "doc">): JsonObject {
    const found = new Map<string, unknown[]>();
    for (const request of this.#context.options.columns) {
      const metadata = this.#metadata(request.field, hit);
      if (metadata !== undefined) found.set(request.field, [metadata]);
      for (const field of this.#expand(request)) {
        const values = columnValues(field, request.format, hit);
        const name = request.field.includes("*") ? field.path : request.field;
        // A field may be requested in several formats.
        if (values.length > 0) found.set(name, [...(found.get(name) ?? []), ...values]);
      }
    }
    return Object.fromEntries(found);
  }

  #withCollapsed(fields: JsonObject, hit: Pick<RankedHit, "segment" | "doc">): JsonObject {
    const { collapseField: name } = this.#context;
    const field = name === undefined ? undefined : this.#shard.mapping.resolve(name);
    if (name === undefined || field === undefined) return fields;
    const { [name]: _, ...rest } = fields;
    const values = columnValues(field, undefined, hit);
    return values.length > 0 ? { ...rest, [name]: values } : rest;
  }

  /** The value of a metadata field that has a column; nested objects have that of their document. */
  #metadata(name: string, { segment, doc }: Pick<RankedHit, "segment" | "doc">): number | string | undefined {
    if (name === "_seq_no") return segment.seqNo(doc);
    if (name === "_id") return segment.id(doc);
    return name === "_index" ? this.#shard.index : undefined;
  }

  #scripted({ segment, doc }: Pick<RankedHit, "segment" | "doc">): JsonObject {
    const found: JsonObject = {};
    let parsed: JsonObject | undefined;
    // Scripts of a hit share the objects and lists in it, as in 6.5, but not its own fields.
    const source = (): JsonObject => ({
      ...(parsed ??= parseDocument(new RawJson(segment.source(doc)).text) as JsonObject),
    });
    for (const { name, ignoresFailure, make } of this.#scripts) {
      try {
        found[name] = make(segment, doc, source);
      } catch (error) {
        if (!ignoresFailure) throw error;
      }
    }
    return found;
  }

  #expand({ field: name }: FieldRequest): Field[] {
    if (name.includes("*")) return this.#shard.mapping.match(name);
    const field = this.#shard.mapping.resolve(name);
    return field === undefined ? [] : [field];
  }
}

/** Returns what shows the nested objects of inner hits. */
function objectFetcher({ fetch, query, sort }: InnerHits, objects: ShardContext): FetchObject {
  const fetcher = new HitFetcher({ options: fetch, query, sorted: !isByScore(sort) }, objects);
  return (hit) => fetcher.fetch(hit);
}

/** Explains a score that a second pass made of the one that `first` explains. */
function explainPass(first: Explanation, { weight, second, combine, score }: RescorePass): Explanation {
  const primary = match(first.value * weight, "product of:", [first, match(weight, "primaryWeight")]);
  if (second === undefined) return primary;
  const other = match(second.score * second.weight, "product of:", [
    match(second.score, "score of the second query"),
    match(second.weight, "secondaryWeight"),
  ]);
  return match(score, `${combine} of:`, [primary, other]);
}

/** Values of a field from its column, as docvalue_fields shows them. */
function columnValues(
  field: Field,
  requested: string | undefined,
  { segment, doc }: Pick<RankedHit, "segment" | "doc">,
): unknown[] {
  if (field.type === "geo_point") {
    const [latitudes, longitudes]: [number[], number[]] = [[], []];
    const count = segment.geoColumn(field.path)?.read(doc, latitudes, longitudes) ?? 0;
    // Before 7 a point is an object.
    return Array.from({ length: count }, (_, at) =>
      answersAs(700) ? `${latitudes[at]}, ${longitudes[at]}` : { lat: latitudes[at]!, lon: longitudes[at]! },
    );
  }
  if (!isNumeric(field)) {
    const column = segment.keywordColumn(field.path);
    const ordinals: number[] = [];
    const count = column?.read(doc, ordinals) ?? 0;
    return Array.from({ length: count }, (_, at) => column!.text(ordinals[at]!));
  }
  const column = segment.numericColumn(field.path);
  if (column === null) return [];
  if (field.type === "date_nanos") {
    const nanos: bigint[] = [];
    const found = column.readExact(doc, nanos);
    return nanos.slice(0, found).map((time) => printNanos(time, requested ?? field.format));
  }
  if (!column.safe) {
    const exact: bigint[] = [];
    const found = column.readExact(doc, exact);
    return exact.slice(0, found).map(shortest);
  }
  const values: number[] = [];
  const count = column.read(doc, values);
  const format = formatOf(field, requested);
  const hasFractions = columnKind(field) === "double";
  return values.slice(0, count).map((value) => {
    if (format.kind === "boolean") return value === 1;
    return printValue(format, value) ?? (hasFractions ? fraction(value) : value);
  });
}
