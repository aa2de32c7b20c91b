/** Query parameters of a request: decoded, and checked against those of the route. */

import { AppError } from "#proto/kit/errors.ts";
import { nearestName } from "#proto/kit/nearest.ts";

/** Taken by every route. */
export const COMMON_PARAMS: readonly string[] = [
  "pretty",
  "human",
  "error_trace",
  "filter_path",
  "format",
  "source",
  "source_content_type",
];

/** Returns the parameters of a query ("a=1&b"); the last of a name counts. Throws request_invalid for wrong encoding. */
export function parseQuery(query: string): Record<string, string> {
  const result: Record<string, string> = {};
  for (const part of query.split(/[&;]/)) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    if (name !== "__proto__") result[name] = equals < 0 ? "" : decode(part.slice(equals + 1));
  }
  return result;
}

/** Throws request_invalid with the nearest name where a parameter isn't known to the route at `path`. */
export function checkParameters(
  path: string,
  query: Readonly<Record<string, string>>,
  known: readonly string[],
): void {
  const unknown = Object.keys(query)
    .filter((name) => !known.includes(name) && !COMMON_PARAMS.includes(name))
    .sort();
  if (unknown.length === 0) return;
  const described = unknown.map((name) => {
    const nearest = nearestName(name, [...known, ...COMMON_PARAMS]);
    return `[${name}]${nearest === undefined ? "" : ` -> did you mean [${nearest}]?`}`;
  });
  const plural = unknown.length > 1 ? "s" : "";
  throw new AppError(
    "request_invalid",
    `request [${path}] contains unrecognized parameter${plural}: ${described.join(", ")}`,
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch (error) {
    throw new AppError("request_invalid", `the query parameter [${text}] is not percent-encoded UTF-8`, {
      cause: error,
    });
  }
}
