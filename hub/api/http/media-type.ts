/** Content types: what a body may claim to be, and what an answer is sent as. */

import { AppError } from "#proto/kit/errors.ts";
import type { BodyKind } from "./route.ts";

const JSON_TYPES = ["application/json", "application/vnd.elasticsearch+json"];
const LINE_TYPES = ["application/x-ndjson", "application/vnd.elasticsearch+x-ndjson"];
const YAML_TYPES = ["application/yaml", "text/yaml"];

/** How an answer is written. */
export type AnswerFormat = "json" | "yaml" | "text";

/** Throws media_type unless a body of `header` fits the route. */
export function checkBodyType(header: string | undefined, kind: BodyKind): void {
  if (kind === "any") return;
  const type = mediaType(header);
  if (JSON_TYPES.includes(type)) return;
  if (kind === "ndjson" && LINE_TYPES.includes(type)) return;
  throw new AppError("media_type", `Content-Type header [${header ?? ""}] is not supported`);
}

/** Returns the format asked for by `format=` or the Accept header; undefined: the route's own. Throws request_invalid. */
export function answerFormat(
  format: string | undefined,
  accept: string | undefined,
): AnswerFormat | undefined {
  if (format === "json" || format === "yaml" || format === "text") return format;
  if (format !== undefined && format !== "") {
    throw new AppError("request_invalid", `format [${format}] is not offered; use json, yaml or text`);
  }
  const types = (accept ?? "").split(",").map(mediaType);
  if (types.some((type) => YAML_TYPES.includes(type))) return "yaml";
  if (types.some((type) => JSON_TYPES.includes(type))) return "json";
  return types.includes("text/plain") ? "text" : undefined;
}

function mediaType(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]!.trim().toLowerCase();
}
