/** Parses the JSON query language to a query tree. The types of queries are plugins: see queries/all.ts. */

import { boosted } from "#hub/search/execute/nodes/wrapped-query.ts";
import { objectOf, onlyEntry } from "#hub/search/options/json.ts";
import { number, type Options, readOptions, text, type Values } from "#hub/search/options/options.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { Query, SearchLimits } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { didYouMean, nearestName } from "#proto/kit/nearest.ts";

/** A type of query: documentation, options and meaning. */
export interface QueryType {
  /** Key in the request. */
  readonly name: string;
  /** Other keys with the same meaning. */
  readonly aliases?: readonly string[];
  /** One sentence for the reference. */
  readonly summary: string;
  readonly options: Options;
  /** Throws parsing or request_invalid. */
  parse(body: unknown, parser: QueryParser): Query;
}

/** Clauses of one request; beyond it the request is refused before it costs anything. */
const MAX_CLAUSES = 1024;

/** Characters of a regular expression by default. */
const MAX_REGEX_LENGTH = 1_000;

/** Queries within queries. */
const MAX_DEPTH = 100;

/** Options that every query takes. */
export const COMMON_OPTIONS = {
  boost: number("factor of the score", 1),
  _name: text("name of the query in answers", undefined),
} as const;

/** A nested query with the options for its returned objects. */
export interface NestedPart extends QueryLevel {
  readonly path: string;
  /** Runs among the objects. */
  readonly query: Query;
  /** The options of the objects returned with a hit, as given; undefined: none are returned. */
  readonly innerHits: JsonObject | undefined;
}

/** What the queries among documents, or among the objects of one nested query, name. */
export interface QueryLevel {
  /** Queries with a `_name`. */
  readonly named: ReadonlyMap<string, Query>;
  readonly nested: readonly NestedPart[];
}

/** Parses the queries of one request. */
export class QueryParser {
  readonly #types: ReadonlyMap<string, QueryType>;
  readonly #paths = new Set<string>();
  #named = new Map<string, Query>();
  #nested: NestedPart[] = [];
  #clauses = 0;
  #depth = 0;

  /** Characters that a regular expression may have. */
  readonly maxRegexLength: number;

  /** `types`: by their names and aliases. */
  constructor(types: ReadonlyMap<string, QueryType>, limits?: Pick<SearchLimits, "maxRegexLength">) {
    this.maxRegexLength = limits?.maxRegexLength ?? MAX_REGEX_LENGTH;
    this.#types = types;
  }

  /** Queries with a `_name`, of all that were parsed so far and run among documents. */
  get named(): ReadonlyMap<string, Query> {
    return this.#named;
  }

  /** Nested queries among documents that were parsed so far. */
  get nested(): readonly NestedPart[] {
    return this.#nested;
  }

  /** Paths of all nested objects that the request reads. */
  get nestedPaths(): ReadonlySet<string> {
    return this.#paths;
  }

  /** Records that the request reads the nested objects of a path. */
  addPath(path: string): void {
    this.#paths.add(path);
  }

  /** Parses the filter of nested objects, undefined for none, and records that the path is read. Throws parsing. */
  readonly nestedFilter = (path: string, filter: unknown): Query | undefined => {
    this.addPath(path);
    if (filter === undefined || filter === null) return undefined;
    const query = this.parseNested(path, filter, undefined);
    this.#nested.pop();
    return query;
  };

  /** Parses the query of a nested one. Throws parsing. */
  parseNested(path: string, json: unknown, innerHits: JsonObject | undefined): Query {
    const [named, nested] = [this.#named, this.#nested];
    const level = { named: new Map<string, Query>(), nested: [] as NestedPart[] };
    this.#paths.add(path);
    this.#named = level.named;
    this.#nested = level.nested;
    try {
      const query = this.parse(json);
      nested.push({ path, query, innerHits, ...level });
      return query;
    } finally {
      this.#named = named;
      this.#nested = nested;
    }
  }

  /** Parses `{"match": {…}}`. Throws parsing. */
  parse(json: unknown): Query {
    if (!isObject(json)) {
      throw new AppError("parsing", "[_na] query malformed, must start with start_object", {
        data: { type: "parsing_exception" },
      });
    }
    const [entry, second] = Object.entries(json);
    if (entry === undefined) throw new AppError("request_invalid", "query malformed, empty clause found");
    if (second !== undefined) {
      throw new AppError(
        "parsing",
        `[${entry[0]}] malformed query, expected [END_OBJECT] but found [FIELD_NAME]`,
      );
    }
    const [name, body] = entry;
    const type = this.#types.get(name);
    if (type === undefined) {
      if (!isObject(body)) throw malformed(name);
      const reason = REFUSED_QUERIES.get(name);
      if (reason !== undefined)
        throw new AppError("request_invalid", `[${name}] query can't be used: ${reason}`);
      throw this.#unknown(name);
    }
    return this.#parseAs(type, body);
  }

  /** Parses a list of queries; a single query is accepted as a list of one. */
  parseList(json: unknown): Query[] {
    if (json === undefined || json === null) return [];
    return (Array.isArray(json) ? json : [json]).map((each) => this.parse(each));
  }

  /** Counts clauses that aren't objects of their own, e.g. the parts of a query string. Throws request_invalid. */
  countClauses(clauses: number): void {
    this.#clauses += clauses;
    if (this.#clauses > MAX_CLAUSES) {
      throw new AppError(
        "request_invalid",
        `too_many_clauses: a query may have at most ${MAX_CLAUSES} clauses`,
        {
          data: { type: "too_many_clauses" },
        },
      );
    }
  }

  /** From 7.7 on the message says what may have been meant. */
  #unknown(name: string): AppError {
    if (!answersAs(707)) {
      const text = `no [query] registered for [${name}]`;
      return new AppError("parsing", text + didYouMean(name, this.#types.keys()), { data: { text } });
    }
    const nearest = nearestName(name, this.#types.keys());
    const hint = nearest === undefined ? "" : ` did you mean [${nearest}]?`;
    const text = `unknown query [${name}]${hint}`;
    const cause = `org.elasticsearch.common.xcontent.NamedObjectNotFoundException: unknown field [${name}]`;
    return new AppError("parsing", text, { data: { text: `${text}; ${cause}` } });
  }

  #parseAs(type: QueryType, body: unknown): Query {
    this.countClauses(1);
    if (++this.#depth > MAX_DEPTH) {
      throw new AppError("request_invalid", `queries are nested deeper than ${MAX_DEPTH} levels`);
    }
    try {
      const query = type.parse(body, this);
      const name = nameOf(body);
      if (name !== undefined) this.#named.set(name, query);
      return query;
    } finally {
      this.#depth--;
    }
  }
}

/** `_name` of a query, which is next to its options or, in queries on one field, below the field. */
function nameOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  for (const each of [body, ...Object.values(body)]) {
    if (isObject(each) && typeof each["_name"] === "string") return each["_name"];
  }
  return undefined;
}

/** A query on one field: `{"<field>": <value>}` or `{"<field>": {<valueKey>: <value>, <option>: …}}`. */
export interface FieldBody<O extends Options> {
  readonly field: string;
  readonly value: unknown;
  readonly options: Values<O>;
}

/** Throws request_invalid if a query names no field. Only match may have an empty name, of a field that doesn't exist. */
export function checkFieldName(owner: string, field: string): void {
  if (field !== "" || owner === "match") return;
  const reason = owner.startsWith("match_phrase")
    ? `[${owner}] requires fieldName`
    : "field name is null or empty";
  throw new AppError("request_invalid", reason);
}

/** Reads the body of a query on one field. Throws parsing, request_invalid. */
export function readFieldBody<O extends Options>(
  owner: string,
  body: unknown,
  options: O,
  valueKeys: readonly string[],
): FieldBody<O & typeof COMMON_OPTIONS> {
  if (!isObject(body)) throw malformed(owner);
  const { boost, _name, ...fields } = body;
  const outer = {
    ...(typeof boost === "number" ? { boost } : {}),
    ...(typeof _name === "string" ? { _name } : {}),
  };
  const [field, given] = onlyEntry(
    typeof boost === "number" || typeof _name === "string" ? fields : body,
    owner,
  );
  checkFieldName(owner, field);
  if (Array.isArray(given)) {
    throw new AppError(
      "parsing",
      `[${owner}] query does not support an array of values for [${field}]; use [terms]`,
    );
  }
  const inner: JsonObject = isObject(given) ? given : { [valueKeys[0]!]: given };
  const key = valueKeys.find((each) => Object.hasOwn(inner, each));
  if (key === undefined || inner[key] === null) {
    throw new AppError(
      "request_invalid",
      `No text specified for [${owner}] query on [${field}]; give [${valueKeys[0]}]`,
    );
  }
  const { [key]: value, ...rest } = inner;
  return {
    field,
    value,
    options: readOptions(owner, { ...outer, ...rest }, { ...COMMON_OPTIONS, ...options }),
  };
}

/** Parses the body of a query whose options are members of one object. Throws parsing. */
export function readBody<O extends Options>(
  owner: string,
  body: unknown,
  options: O,
): Values<O & typeof COMMON_OPTIONS> {
  return readOptions(owner, objectOf(body, owner), { ...COMMON_OPTIONS, ...options });
}

/** Returns `query` with the boost of its options. */
export function withBoost(query: Query, options: { readonly boost: number | undefined }): Query {
  return boosted(query, options.boost ?? 1);
}

const PARENTS = "documents have no parents; put both into one document";

/** Reasons by the name of the query. */
export const REFUSED_QUERIES: ReadonlyMap<string, string> = new Map([
  ["combined_fields", "use multi_match with type cross_fields"],
  ["knn", "there is no search by vectors"],
  ["pinned", "use bool with should, whose constant_score of the ids has a boost"],
  ["has_child", PARENTS],
  ["has_parent", PARENTS],
  ["parent_id", PARENTS],
  ["percolate", "queries aren't kept as documents; use alerts"],
  ["geo_shape", "shapes aren't offered; use geo_bounding_box, geo_distance or geo_polygon"],
]);

function malformed(name: string): AppError {
  return new AppError("parsing", `[${name}] query malformed, no start_object after query name`);
}
