/** Makes documents of bulk requests out of a batch's lines or events. */

import type { Batch } from "#agent/contract/output.ts";
import { decodeEvents } from "#agent/contract/packed-events.ts";
import { besideSource } from "#proto/event-members.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { SourceFields } from "#proto/raw-encoder.ts";
import type { AgentNames } from "./pipeline.ts";

export interface DocumentOptions {
  /** First 8 bytes of document ids: of the source. */
  readonly idPrefix: Buffer;
  /** Fields of every document. */
  readonly common: Readonly<Record<string, unknown>>;
  /** Name of the index with %{+yyyy.MM.dd}. */
  readonly index: string;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Length of an id before base64url: 8 of the source, 6 of the offset, 1 for children. */
const ID_BYTES = 15;
const OFFSET_AT = 8;
const OFFSET_BYTES = 6;

/** Returns one text per document: action line and source line. */
export function documentsOf(batch: Pick<Batch, "body" | "block">, options: DocumentOptions): string[] {
  return sourcesOf(batch, options.common).map((source) => documentOf(source, options));
}

/** Returns action line and source line of one document. */
export function documentOf(source: DocumentSource, { idPrefix, index }: DocumentOptions): string {
  const day = source["@timestamp"].slice(0, 10).replaceAll("-", ".");
  const id = documentId(idPrefix, source.log.offset);
  const action = { index: { _index: index.replace("%{+yyyy.MM.dd}", day), _type: "_doc", _id: id } };
  return `${JSON.stringify(action)}\n${JSON.stringify(source)}\n`;
}

/** A document as it is indexed or written. */
export interface DocumentSource {
  readonly "@timestamp": string;
  readonly message: string;
  readonly log: { readonly offset: number };
}

/** Returns the documents of a batch's lines or events. */
export function sourcesOf(
  { body, block }: Pick<Batch, "body" | "block">,
  common: Readonly<Record<string, unknown>>,
): DocumentSource[] {
  const sources: DocumentSource[] = [];
  if (body.events) {
    const events = body.buffer.subarray(body.start, body.end);
    for (const { offset, timeMs, message, fieldsJson } of decodeEvents(events)) {
      const own = fieldsJson.length === 0 ? {} : (JSON.parse(Buffer.from(fieldsJson).toString()) as object);
      const text = Buffer.from(message).toString();
      sources.push(sourceOf(common, offset, timeMs === 0 ? block.readTimeMs : timeMs, text, own));
    }
    return sources;
  }
  for (let at = body.start; at < body.end; ) {
    const newline = body.buffer.indexOf(NEWLINE, at);
    const next = newline < 0 || newline >= body.end ? body.end : newline + 1;
    let end = next === newline + 1 ? newline : next;
    if (end < next && end > at && body.buffer[end - 1] === CARRIAGE_RETURN) end--;
    const offset = block.from + at - body.start;
    if (end > at)
      sources.push(sourceOf(common, offset, block.readTimeMs, body.buffer.toString("utf8", at, end), {}));
    at = next;
  }
  return sources;
}

/** Returns the fields that all documents of a source have. `fieldsJson`: {"fields": {}, "tags": []} or empty. */
export function commonFields(
  names: AgentNames,
  source: SourceFields,
  fieldsJson: Uint8Array,
): Record<string, unknown> {
  const own = fieldsJson.length === 0 ? {} : (JSON.parse(Buffer.from(fieldsJson).toString()) as object);
  return {
    host: { name: names.hostName },
    shipper: { id: names.agentId, name: names.agentName, version: names.agentVersion },
    input: { type: source.inputType },
    ...(source.path === "" ? {} : { log: { file: { path: source.path } } }),
    ...own,
  };
}

/** Returns the document of one line or event. `own`: its own fields. */
export function sourceOf(
  common: Readonly<Record<string, unknown>>,
  offset: number,
  timeMs: number,
  message: string,
  own: object,
): DocumentSource {
  const { log, ...others } = common;
  const { log: ownLog, ...rest } = besideSource(own as JsonObject, common);
  const details = typeof ownLog === "object" ? ownLog : {};
  return {
    "@timestamp": new Date(timeMs).toISOString(),
    message,
    ...others,
    ...rest,
    log: { ...(log as object | undefined), ...details, offset },
  };
}

/** Returns the id of the document at `offset` of a source. */
export function documentId(prefix: Buffer, offset: number): string {
  const id = Buffer.alloc(ID_BYTES);
  prefix.copy(id, 0, 0, OFFSET_AT);
  id.writeUIntBE(offset, OFFSET_AT, OFFSET_BYTES);
  return id.toString("base64url");
}
