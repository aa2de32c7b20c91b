/** Which formats the lines of each source were recognised as, judged by their documents. */

import { type Hit, LogDocument } from "#ui/services/search/log-document.ts";
import type { SearchClient } from "#ui/services/search/search-client.ts";
import { TIME_FIELD } from "#ui/services/search/search-request.ts";
import { HOUR_MS } from "#ui/services/text/time-units.ts";

export const FORMATS = ["access", "syslog", "json", "plain"] as const;
export type LineFormat = (typeof FORMATS)[number];

/** A source of lines, with the formats of its lines. */
export interface LogSource {
  /** Path of the file; "": lines without one, from sockets and programs. */
  readonly path: string;
  /** Of the last hour. */
  readonly lines: number;
  readonly perSecond: number;
  /** Lines of each format among the newest ones. */
  readonly formats: Readonly<Record<LineFormat, number>>;
  /** Newest lines of no format. */
  readonly plain: readonly string[];
}

interface SourceBucket {
  readonly key?: string;
  readonly doc_count: number;
  readonly recent: { readonly doc_count: number };
  readonly newest: { readonly hits: { readonly hits: readonly Hit[] } };
}

const FILE_FIELD = "log.file.path";
const MAX_SOURCES = 20;
/** Newest lines of each source that are judged. */
export const JUDGED_LINES = 20;
const RECENT_MS = 5 * 60_000;
/** Every line has these, whatever its format. */
const COMMON =
  /^(?:message|@timestamp|tags|log\.(?:file\.path|offset|level|flags)|(?:host|shipper|input|agent|ecs|event|container|kubernetes)\..*)$/;

/** Returns the sources of the last hour's lines, the busiest first. Throws HubError. */
export async function findSources(
  client: SearchClient,
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly LogSource[]> {
  const since = (ms: number): object => ({ range: { [TIME_FIELD]: { gte: ms, format: "epoch_millis" } } });
  const aggs = {
    recent: { filter: since(nowMs - RECENT_MS) },
    newest: { top_hits: { size: JUDGED_LINES, sort: [{ [TIME_FIELD]: "desc" }] } },
  };
  const body = {
    size: 0,
    query: { bool: { filter: [since(nowMs - HOUR_MS)] } },
    aggs: {
      files: { terms: { field: FILE_FIELD, size: MAX_SOURCES }, aggs },
      others: { missing: { field: FILE_FIELD }, aggs },
    },
  };
  const answer = (await client.search("logs-*", body, signal)) as {
    readonly aggregations?: {
      readonly files?: { readonly buckets: readonly SourceBucket[] };
      readonly others?: SourceBucket;
    };
  };
  const { files, others } = answer.aggregations ?? {};
  const found = [...(files?.buckets ?? []), ...(others === undefined ? [] : [others])];
  return found.filter(({ doc_count: lines }) => lines > 0).map(sourceOf);
}

function sourceOf({ key = "", doc_count: lines, recent, newest }: SourceBucket): LogSource {
  const documents = newest.hits.hits.map((hit) => new LogDocument(hit));
  const formats = { access: 0, syslog: 0, json: 0, plain: 0 };
  const plain: string[] = [];
  for (const document of documents) {
    const format = formatOf(document);
    formats[format] += 1;
    if (format === "plain") plain.push(document.message);
  }
  return { path: key, lines, perSecond: (recent.doc_count * 1_000) / RECENT_MS, formats, plain };
}

/** Returns the format that a line's document shows: an access log, syslog, fields of its own, or none. */
export function formatOf({ fields }: Pick<LogDocument, "fields">): LineFormat {
  const names = [...fields.keys()];
  if (names.some((name) => name.startsWith("log.syslog."))) return "syslog";
  if (fields.has("http.response.status_code") && fields.has("source.address")) return "access";
  return names.some((name) => !COMMON.test(name)) ? "json" : "plain";
}
