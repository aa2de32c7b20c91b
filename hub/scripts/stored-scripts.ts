/** Scripts and search templates that requests name by id. All hubs of a cluster share them. */

import { checkSyntax, compilePainless } from "#hub/scripts/painless/painless.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { StoredTexts, type TextKind } from "#proto/kit/stored-texts.ts";
import { compileLuceneExpression } from "./expression.ts";
import { compileMustache } from "./mustache.ts";
import type { StoredScript } from "./script.ts";

/** Longest source that a client may store, characters; as `script.max_size_in_bytes` of later servers. */
const MAX_SOURCE = 65_535;

const KIND: TextKind = { noun: "script", prefix: "scripts/", maxChars: 2 * MAX_SOURCE, maxCount: 1_000 };

/** Variables that scripts may use, by the name of their context. */
export const SCRIPT_CONTEXTS: Readonly<Record<string, readonly string[]>> = {
  search: ["params", "doc", "_score", "_value"],
  filter: ["params", "doc"],
  score: ["params", "doc", "_score"],
  field: ["params", "doc"],
  aggs: ["params", "doc", "_score", "_value"],
  number_sort: ["params", "doc", "_score"],
  string_sort: ["params", "doc", "_score"],
  update: ["params", "ctx"],
  ingest: ["params", "ctx"],
  processor_conditional: ["params", "ctx"],
  bucket_aggregation: ["params"],
};

/** Contexts whose scripts may be Lucene expressions. */
export const EXPRESSION_CONTEXTS: readonly string[] = [
  "aggs",
  "bucket_aggregation",
  "field",
  "filter",
  "number_sort",
  "score",
  "search",
];

export class StoredScripts implements Component {
  readonly #texts: StoredTexts;

  /** `changed` is called after each change. */
  constructor(bucket: StateBucket, log: Logger, changed?: () => void) {
    this.#texts = new StoredTexts(bucket, KIND, log, changed);
  }

  start(): Promise<void> {
    return this.#texts.start();
  }

  stop(): Promise<void> {
    return this.#texts.stop();
  }

  get(id: string): StoredScript | undefined {
    const text = this.#texts.get(id);
    return text === undefined ? undefined : (JSON.parse(text) as StoredScript);
  }

  /** Returns all scripts as JSON by id. */
  texts(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#texts.all());
  }

  /**
   * Checks a script {lang, source} and stores it. `context`: what it is for; without one only its syntax is checked.
   * Throws request_invalid, script_failed, request_too_large.
   */
  async put(id: string, given: unknown, context: string | undefined): Promise<void> {
    const script = readStored(given);
    if (script.source.length > MAX_SOURCE)
      throw new AppError(
        "request_invalid",
        `exceeded max allowed stored script size [${MAX_SOURCE}] with size [${script.source.length}] for script [${id}]`,
      );
    check(script, context);
    await this.#texts.put(id, JSON.stringify(script));
  }

  /** Returns false where there is none of that id. */
  async delete(id: string): Promise<boolean> {
    if (this.#texts.get(id) === undefined) return false;
    await this.#texts.delete([id]);
    return true;
  }
}

function readStored(given: unknown): StoredScript {
  if (!isObject(given))
    throw new AppError("request_invalid", "must specify a script with [lang] and [source]", {
      data: { type: "parse_exception" },
    });
  const unknown = Object.keys(given).find((key) => !["lang", "source", "code", "options"].includes(key));
  if (unknown !== undefined)
    throw new AppError(
      "request_invalid",
      `[stored script source] unknown field [${unknown}], parser not found`,
    );
  const { lang } = given;
  if (typeof lang !== "string") throw new AppError("request_invalid", "must specify lang for stored script");
  return { lang, source: sourceText(given) };
}

/** A template may be given as JSON, which is kept as text. */
function sourceText({ source, code }: JsonObject): string {
  const given = source ?? code;
  if (typeof given === "string" && given !== "") return given;
  if (isObject(given)) return JSON.stringify(given);
  throw new AppError("request_invalid", "must specify source for stored script");
}

function check({ lang, source }: StoredScript, context: string | undefined): void {
  if (lang === "mustache") {
    compileMustache(source);
    return;
  }
  if (lang === "expression") {
    compileLuceneExpression(source, SCRIPT_CONTEXTS["search"]!, "number");
    return;
  }
  if (lang !== "painless") throw new AppError("request_invalid", `script_lang not supported [${lang}]`);
  if (context === undefined) {
    checkSyntax(source);
    return;
  }
  const names = Object.hasOwn(SCRIPT_CONTEXTS, context) ? SCRIPT_CONTEXTS[context] : undefined;
  if (names === undefined) throw new AppError("request_invalid", `script context [${context}] not supported`);
  compilePainless(source, names, context === "ingest" || context === "processor_conditional");
}
