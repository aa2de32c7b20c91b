/** Queries of Loki's tail: evaluated over documents as they arrive, before they are in an index. */

import type { Entry } from "#hub/api/logql/entry.ts";
import { documentFields, lineOf, streamLabels } from "#hub/api/logql/label-fields.ts";
import { compileFilter } from "#hub/api/logql/label-filter.ts";
import { Pace } from "#hub/api/logql/pace.ts";
import { parseLogQl } from "#hub/api/logql/parser.ts";
import { compileStages } from "#hub/api/logql/stages.ts";
import type { LogQuery } from "#hub/api/logql/syntax.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** An arriving document. */
interface PassingDocument {
  readonly index: string;
  readonly source: JsonObject;
}

/** See `LogTailQuery` of the live tail. */
interface TailQuery {
  readonly literal: string;
  readonly selects: (document: PassingDocument) => boolean;
  readonly line: (
    document: PassingDocument,
  ) => Promise<{ stream: Record<string, string>; line: string } | undefined>;
  readonly labels: (document: PassingDocument) => Record<string, string>;
}

/** Selectors compare all fields that a label names, as a search does; a stream has only one of them. */
const NO_LABELS = new Map<string, string>();

/** Compiles a log query. Its evaluation yields to other work and stops when `signal` is aborted. Throws request_invalid. */
export function compileTailQuery(text: string, signal: AbortSignal, clock: Clock): TailQuery {
  const query = parseLogQl(text);
  if (query.kind !== "log" || query.stages.some(({ kind }) => kind === "unwrap"))
    throw new AppError("request_invalid", "parse error : only log queries, without unwrap, can be tailed");
  const matchers = query.matchers.map((matcher) => compileFilter({ kind: "text", ...matcher }));
  const keeps = compileStages(query.stages);
  const pace = new Pace(signal, clock, Number.POSITIVE_INFINITY);
  return {
    literal: literalOf(query),
    selects: (document) => {
      const entry = entryOf(document, NO_LABELS);
      return matchers.every((matches) => matches(entry));
    },
    line: async (document) => {
      const entry = entryOf(document, streamLabels(document.source));
      if (!(await keeps(entry, pace))) return undefined;
      return { stream: Object.fromEntries(entry.labels), line: entry.line };
    },
    labels: ({ source }) => Object.fromEntries(streamLabels(source)),
  };
}

function entryOf({ index, source }: PassingDocument, labels: ReadonlyMap<string, string>): Entry {
  return {
    line: lineOf(source),
    labels: new Map(labels),
    stream: labels,
    extracted: new Set(),
    field: documentFields(source, index),
    value: undefined,
    work: 0,
  };
}

/** Returns the longest run of ASCII letters, in lower case, that the JSON of every match contains; "" if none is known. */
function literalOf({ matchers, stages }: LogQuery): string {
  const equal = matchers.filter(({ label, operator }) => operator === "=" && label !== "_index");
  const changing = stages.findIndex(({ kind }) => kind !== "line");
  const lines = stages
    .slice(0, changing < 0 ? stages.length : changing)
    .flatMap((stage) =>
      stage.kind === "line" && stage.operator === "|=" && stage.values.length + stage.addresses.length === 1
        ? stage.values
        : [],
    );
  const runs = [...equal.map(({ value }) => value), ...lines].flatMap(
    (value) => value.match(/[A-Za-z]+/g) ?? [],
  );
  return runs.reduce((best, run) => (run.length > best.length ? run : best), "").toLowerCase();
}
