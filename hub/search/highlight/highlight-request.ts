/** The option `highlight` of a request. */

import { objectOf } from "#hub/search/options/json.ts";
import {
  anything,
  flag,
  hint,
  integer,
  oneOf,
  readOptions,
  text,
  texts,
  withoutEffect,
} from "#hub/search/options/options.ts";
import type { QueryParser } from "#hub/search/parse/query-parser.ts";
import type { Query } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

export interface HighlightField {
  /** Name or pattern with `*`. */
  readonly name: string;
  /** Tags of the parts of the query, repeated as needed; all but `fvh` use the first. */
  readonly preTags: readonly string[];
  readonly postTags: readonly string[];
  /** Characters of a fragment. */
  readonly fragmentSize: number;
  /** 0: the whole value. */
  readonly fragments: number;
  /** Characters of the beginning that are returned if nothing is marked. */
  readonly noMatchSize: number;
  readonly byScore: boolean;
  readonly requireFieldMatch: boolean;
  readonly encodeHtml: boolean;
  /** `plain`: made from the text alone, whatever the index stores of it. */
  readonly type: "unified" | "plain" | "fvh";
  /** What fragments end at; undefined: what is usual for the type. */
  readonly scanner: "chars" | "sentence" | "word" | undefined;
  /** Characters that fragments of `fvh` end at, and how far they are looked for. */
  readonly boundaryChars: ReadonlySet<string>;
  readonly boundaryMaxScan: number;
  /** `simple`: fragments of `plain` may begin within phrases. */
  readonly fragmenter: "simple" | "span";
  /** Matches that `fvh` looks at. */
  readonly phraseLimit: number;
  /** Marks what this query finds instead of the request's own. */
  readonly query: Query | undefined;
}

export interface HighlightRequest {
  readonly fields: readonly HighlightField[];
}

/** Characters that fragments of `fvh` grow by at most at either end, whatever is asked for. */
export const MAX_SCAN = 1_000;

/** Options of `highlight` and of each field of it. */
export const HIGHLIGHT_OPTIONS = {
  pre_tags: texts("text before a mark"),
  post_tags: texts("text behind a mark"),
  tags_schema: text('styled: <em class="hlt1">', undefined),
  fragment_size: integer("characters of a fragment", 100),
  number_of_fragments: integer("number of fragments per field; 0: the whole value", 5),
  no_match_size: integer("number of leading characters to return if nothing is marked", 0),
  order: oneOf("score: the best fragment first", ["none", "score"], "none"),
  require_field_match: flag("whether only words sought in the field itself are marked", true),
  encoder: oneOf("html escapes the text", ["default", "html"], "default"),
  highlight_query: anything("query whose words are marked instead"),
  type: oneOf(
    "unified cuts into sentences, plain and fvh by the number of characters",
    ["unified", "plain", "fvh"],
    "unified",
  ),
  boundary_scanner: oneOf(
    "what fragments end at: sentences (unified), characters (fvh) unless given",
    ["chars", "sentence", "word"],
    undefined,
  ),
  boundary_chars: text("characters that fragments of fvh end at", ".,!? \t\n"),
  boundary_max_scan: integer(`characters that fragments of fvh grow by, ${MAX_SCAN} at most`, 20),
  boundary_scanner_locale: withoutEffect(text("boundaries are those of no language", undefined)),
  force_source: hint(flag("texts are always read from the source", undefined)),
  fragmenter: oneOf("whether fragments of plain may begin within phrases", ["simple", "span"], "span"),
  fragment_offset: withoutEffect(integer("fragments begin shortly before their first mark", undefined)),
  matched_fields: withoutEffect(texts("each field is highlighted by its own matches")),
  phrase_limit: integer("matches that fvh looks at", 256),
  max_fragment_length: withoutEffect(integer("use fragment_size", undefined)),
} as const;

const STYLED_TAGS = Array.from({ length: 10 }, (_, at) => `<em class="hlt${at + 1}">`);

/** Parses the option. Throws parsing. */
export function parseHighlight(json: JsonObject, queries: QueryParser): HighlightRequest {
  const { fields, use_explicit_field_order: _explicit, ...shared } = json;
  refuseUnknown("highlight", shared);
  readOptions("highlight", shared, HIGHLIGHT_OPTIONS, "option");
  const parts = Array.isArray(fields)
    ? fields.map((each: unknown) => objectOf(each, "highlight] [fields"))
    : [objectOf(fields ?? {}, "highlight] [fields")];
  return {
    fields: parts.flatMap((part) =>
      Object.entries(part).map(([name, own]) => parseField(name, shared, own, queries)),
    ),
  };
}

/** Throws parsing for an option that isn't there. */
function refuseUnknown(owner: string, given: JsonObject): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(HIGHLIGHT_OPTIONS, name));
  if (unknown === undefined) return;
  throw new AppError("parsing", `[${owner}] unknown field [${unknown}], parser not found`, {
    data: { type: "x_content_parse_exception" },
  });
}

function parseField(name: string, shared: JsonObject, own: unknown, queries: QueryParser): HighlightField {
  if (!isObject(own)) throw new AppError("parsing", `[highlight] [fields] [${name}] must be an object`);
  refuseUnknown("highlight_field", own);
  const options = readOptions("highlight", { ...shared, ...own }, HIGHLIGHT_OPTIONS, "option");
  const styled = options.tags_schema === "styled";
  return {
    name,
    preTags: someOf(options.pre_tags) ?? (styled ? STYLED_TAGS : ["<em>"]),
    postTags: someOf(options.post_tags) ?? ["</em>"],
    fragmentSize: options.fragment_size ?? 100,
    fragments: options.number_of_fragments ?? 5,
    noMatchSize: options.no_match_size ?? 0,
    byScore: options.order === "score",
    requireFieldMatch: options.require_field_match ?? true,
    encodeHtml: options.encoder === "html",
    type: options.type ?? "unified",
    scanner: options.boundary_scanner,
    boundaryChars: new Set((options.boundary_chars ?? ".,!? \t\n").split("")),
    boundaryMaxScan: Math.min(MAX_SCAN, options.boundary_max_scan ?? 20),
    fragmenter: options.fragmenter ?? "span",
    phraseLimit: options.phrase_limit ?? 256,
    query: options.highlight_query === undefined ? undefined : queries.parse(options.highlight_query),
  };
}

function someOf(tags: readonly string[] | undefined): readonly string[] | undefined {
  return tags?.length === 0 ? undefined : tags;
}
