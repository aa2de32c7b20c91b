/** `_analyze`: the tokens that an analyzer makes of a text. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { validationError } from "#hub/api/http/error-body.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { numberSetting } from "#hub/api/parameters/index-settings.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { Analysis, type Analyzer, type PartSpec, type Token } from "#hub/engine/analysis/analysis.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";

/** Position gap between the values of a list. */
const VALUE_GAP = 100;
/** Default maximum number of tokens of an answer; index.analyze.max_token_count changes it. */
const MAX_TOKENS = 10_000;
const KEYS = [
  "analyzer",
  "tokenizer",
  "filter",
  "char_filter",
  "normalizer",
  "field",
  "text",
  "explain",
  "attributes",
];

export function analyzeRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_analyze", "/{index}/_analyze"],
      params: ["index", "prefer_local", ...KEYS],
      action: "search",
      // Every token of a text becomes part of the answer.
      maxBodyBytes: 1024 * 1024,
      summary: "Shows the tokens of a text.",
      handle: (request) => analyze(parts, request),
    },
  ];
}

async function analyze({ indices }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const name = request.text("index");
  const index = name === undefined ? undefined : indices.resolve(name, {})[0];
  const body = { ...parameters(request), ...request.object() };
  for (const key of Object.keys(body)) {
    if (!KEYS.includes(key))
      throw new AppError(
        "request_invalid",
        `Unknown parameter [${key}] in request body or parameter is of the wrong type[VALUE_STRING] `,
      );
  }
  const texts = textsOf(body["text"]);
  if (body["normalizer"] !== undefined)
    return normalized(index, scalarText(body["normalizer"], "normalizer"), texts);
  const analyzer = analyzerOf(index, body);
  for (const warning of analyzer.warnings) warnDeprecated(warning, { until: 700 });
  const tokens = await tokensOf(analyzer, texts, limitOf(index));
  if (!isTrue(body["explain"])) return json({ tokens: tokens.map(printToken) });
  return json({ detail: await detailOf(index, body, analyzer, texts) });
}

function parameters(request: ApiRequest): JsonObject {
  const entries = Object.entries(request.query).filter(([key]) => KEYS.includes(key));
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      key === "filter" || key === "char_filter" ? value.split(",") : value,
    ]),
  );
}

function textsOf(value: unknown): string[] {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0))
    throw validationError(["text is missing"]);
  const list = Array.isArray(value) ? value : [value];
  return list.map((text: unknown) => {
    if (typeof text === "string" || typeof text === "number" || typeof text === "boolean")
      return String(text);
    throw new AppError("request_invalid", "text array element should only contain text");
  });
}

function analyzerOf(index: IndexInfo | undefined, body: JsonObject): Analyzer {
  const analysis = index?.mapping.analysis ?? new Analysis();
  const { analyzer, tokenizer, field } = body;
  const filters = partsOf(body["filter"]);
  const charFilters = partsOf(body["char_filter"]);
  if (analyzer !== undefined) return namedAnalyzer(analysis, index, scalarText(analyzer, "analyzer"));
  if (tokenizer !== undefined)
    return analysis.chain({ tokenizer: tokenizer as PartSpec, filters, charFilters });
  if (field !== undefined) return fieldAnalyzer(analysis, index, scalarText(field, "field"));
  if (filters.length > 0 || charFilters.length > 0) return analysis.normalizerChain({ filters, charFilters });
  return analysis.analyzer("default");
}

function namedAnalyzer(analysis: Analysis, index: IndexInfo | undefined, name: string): Analyzer {
  if (analysis.has(name)) return analysis.analyzer(name);
  const where = index === undefined ? "global analyzer" : "analyzer";
  throw new AppError("request_invalid", `failed to find ${where} [${name}]`);
}

function fieldAnalyzer(analysis: Analysis, index: IndexInfo | undefined, path: string): Analyzer {
  if (index === undefined)
    throw new AppError("request_invalid", "analysis based on a specific field requires an index");
  const field = index.mapping.resolve(path);
  if (field === undefined) return analysis.analyzer("default");
  if (field.type === "text") return analysis.analyzer(field.analyzer);
  if (field.type !== "keyword") {
    throw new AppError(
      "request_invalid",
      `Can't process field [${path}], Analysis requests are only supported on tokenized fields`,
    );
  }
  return analysis.analyzer("keyword");
}

function partsOf(value: unknown): PartSpec[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map((part: unknown) =>
    isObject(part) ? part : scalarText(part, "filter"),
  );
}

function normalized(index: IndexInfo | undefined, name: string, texts: readonly string[]): ApiResponse {
  if (index === undefined)
    throw new AppError("request_invalid", "analysis based on a normalizer requires an index");
  const { analysis } = index.mapping;
  if (!analysis.hasNormalizer(name))
    throw new AppError("request_invalid", `failed to find normalizer under [${name}]`);
  return json({
    tokens: texts.map((text, position) =>
      printToken({
        text: analysis.normalize(name, text),
        startOffset: 0,
        endOffset: text.length,
        type: "word",
        position,
      }),
    ),
  });
}

function limitOf(index: IndexInfo | undefined): number {
  return index === undefined ? MAX_TOKENS : numberSetting(index, "analyze.max_token_count", MAX_TOKENS);
}

/**
 * Returns the tokens of all texts; offsets and positions continue from one text to the next. Other requests run between pieces
 * of long texts.
 */
async function tokensOf(analyzer: Analyzer, texts: readonly string[], limit: number): Promise<Token[]> {
  const all: Token[] = [];
  let offset = 0;
  let position = 0;
  const slices = new TimeSlices();
  for (const text of texts) {
    let last = -1;
    for (const tokens of analyzer.pieces(text, limit + 1)) {
      if (slices.isDue) await slices.pause();
      for (const token of tokens) {
        last = token.position;
        all.push({
          ...token,
          startOffset: token.startOffset + offset,
          endOffset: token.endOffset + offset,
          position: token.position + position,
        });
      }
      if (all.length > limit) throw tooManyTokens(limit);
    }
    position += last + 1 + VALUE_GAP;
    offset += text.length + 1;
  }
  return all;
}

function tooManyTokens(limit: number): AppError {
  return new AppError(
    "request_invalid",
    `The number of tokens produced by calling _analyze has exceeded the allowed maximum of [${limit}]. This limit can be set by changing the [index.analyze.max_token_count] index level setting.`,
  );
}

function printToken({ text, startOffset, endOffset, type, position, positionLength = 1 }: Token): JsonObject {
  return {
    token: text,
    start_offset: startOffset,
    end_offset: endOffset,
    type,
    position,
    ...(positionLength > 1 ? { positionLength } : {}),
  };
}

/** Returns the tokens after each step of the chain. */
async function detailOf(
  index: IndexInfo | undefined,
  body: JsonObject,
  analyzer: Analyzer,
  texts: readonly string[],
): Promise<JsonObject> {
  const printed = async (each: Analyzer, showsKeywords = false): Promise<JsonObject[]> => {
    const tokens = await tokensOf(each, texts, limitOf(index));
    return tokens.map((token) => ({
      ...printToken(token),
      ...bytesOf(token),
      ...(showsKeywords && { keyword: token.isKeyword ?? false }),
    }));
  };
  const filters = partsOf(body["filter"]);
  const charFilters = partsOf(body["char_filter"]);
  const isNormalizer =
    body["tokenizer"] === undefined &&
    body["analyzer"] === undefined &&
    body["field"] === undefined &&
    filters.length + charFilters.length > 0;
  const tokenizer = isNormalizer ? "keyword" : body["tokenizer"];
  if (tokenizer === undefined) {
    const name = body["analyzer"] === undefined ? analyzer.name : scalarText(body["analyzer"], "analyzer");
    return { custom_analyzer: false, analyzer: { name, tokens: await printed(analyzer) } };
  }
  const analysis = index?.mapping.analysis ?? new Analysis();
  const upTo = (count: number): Analyzer =>
    analysis.chain({ tokenizer: tokenizer as PartSpec, filters: filters.slice(0, count), charFilters });
  const steps: JsonObject[] = [];
  let showsKeywords = false;
  for (const [at, part] of filters.entries()) {
    showsKeywords ||= analysis.usesKeywords(part);
    steps.push({ name: nameOf(part, "tokenfilter"), tokens: await printed(upTo(at + 1), showsKeywords) });
  }
  return {
    custom_analyzer: true,
    charfilters: charFilters.map((part, at) => ({
      name: nameOf(part, "charfilter"),
      filtered_text: texts.map((text) => filteredText(analysis, charFilters.slice(0, at + 1), text)),
    })),
    tokenizer: {
      name: isNormalizer
        ? answersAs(700)
          ? "keyword"
          : "keyword_for_normalizer"
        : nameOf(tokenizer as PartSpec, "tokenizer"),
      tokens: await printed(upTo(0)),
    },
    tokenfilters: steps,
  };
}

function filteredText(analysis: Analysis, charFilters: readonly PartSpec[], text: string): string {
  const whole = analysis.chain({ tokenizer: "keyword", filters: [], charFilters });
  return whole
    .tokens(text)
    .map((token) => token.text)
    .join("");
}

/** Returns the name of a part; one without a name gets a name by its kind, from 7.x on by its type. */
function nameOf(part: PartSpec, kind: string): string {
  if (typeof part === "string") return part;
  return answersAs(700) ? `__anonymous__${scalarText(part["type"], "type")}` : `_anonymous_${kind}`;
}

function bytesOf({ text, positionLength = 1 }: Token): JsonObject {
  const bytes = [...Buffer.from(text)].map((byte) => byte.toString(16).padStart(2, "0"));
  return { bytes: `[${bytes.join(" ")}]`, positionLength, termFrequency: 1 };
}
