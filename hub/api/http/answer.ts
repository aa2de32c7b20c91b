/** Turns what a route answers into status, headers and bytes, in the format that was asked for. */

import { stringify } from "yaml";
import { RawJson } from "#hub/search/options/raw-json.ts";
import { filterPath } from "./filter-path.ts";
import { plainValue, writeJson } from "./json-writer.ts";
import type { AnswerFormat } from "./media-type.ts";
import type { ApiResponse } from "./route.ts";

/** An answer ready to be sent. */
export interface RenderedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export interface AnswerOptions {
  readonly pretty: boolean;
  readonly filterPath: string | undefined;
  readonly format: AnswerFormat | undefined;
}

/** Options of an answer that nothing is known of. */
export const PLAIN_ANSWER: AnswerOptions = { pretty: false, filterPath: undefined, format: undefined };

const JSON_TYPE = "application/json; charset=UTF-8";
const YAML_TYPE = "application/yaml";
const TEXT_TYPE = "text/plain; charset=UTF-8";

export function renderAnswer(response: ApiResponse, options: AnswerOptions): RenderedAnswer {
  const { status, headers = {}, text, bytes } = response;
  if (bytes !== undefined) return { status, headers: { "content-type": JSON_TYPE, ...headers }, body: bytes };
  if (text !== undefined) return { status, headers: { "content-type": TEXT_TYPE, ...headers }, body: text };
  if (response.json === undefined)
    return { status, headers: { "content-type": TEXT_TYPE, ...headers }, body: "" };
  const { filterPath: patterns } = options;
  if (response.json instanceof RawJson && !patterns && !options.pretty && options.format !== "yaml")
    return { status, headers: { "content-type": JSON_TYPE, ...headers }, body: response.json.bytes };
  const value = patterns ? filterPath(plainValue(response.json), patterns) : response.json;
  if (options.format === "yaml") {
    const body = stringify(plainValue(value), { directives: true });
    return { status, headers: { "content-type": YAML_TYPE, ...headers }, body };
  }
  return {
    status,
    headers: { "content-type": JSON_TYPE, ...headers },
    body: writeJson(value, options.pretty),
  };
}
