/** An event as the text of a `tail.rows` row, made once for all viewers. */

import { isDeeper } from "#proto/kit/json.ts";
import { type Level, levelOf, ROW_TRUNCATED } from "#proto/live.ts";
import type { EventDocument } from "./filter/event-document.ts";

/** Fields of the level, the most common first. */
const LEVEL_FIELDS = ["log.level", "level", "severity", "loglevel"];

const BEYOND_LATIN1 = /[\u0100-\uffff]/;
/** The other pieces of a row, their objects and its entry in a ring. */
const ROW_OVERHEAD_BYTES = 250;

/** Fields that nest deeper aren't sent. */
const MAX_FIELD_DEPTH = 100;

/** The fields of a row if none were requested, or if it has none of them. */
export const NO_FIELDS = "null";

/** A row's JSON in three pieces; the number of the source follows `head`, the fields follow `body`. */
export interface RenderedRow {
  readonly timestampMs: number;
  /** The RowSource as JSON; also used as a key. */
  readonly source: string;
  readonly head: string;
  readonly body: string;
  readonly tail: string;
  /** Approximate memory of the row: texts with letters beyond Latin-1 use two bytes per character. */
  readonly sizeBytes: number;
}

/** Returns the row of an event, with its message truncated at `messageSize` characters. */
export function renderRow(document: EventDocument, messageSize: number): RenderedRow {
  const { index, id, timestampMs } = document.event;
  const message = document.message;
  const flags = message.length > messageSize ? ROW_TRUNCATED : 0;
  const shown = flags === 0 ? message : message.slice(0, messageSize).toWellFormed();
  const body = `,${JSON.stringify(shown)},`;
  return {
    timestampMs,
    source: JSON.stringify([index, text(document, "host.name"), text(document, "log.file.path")]),
    head: `[${JSON.stringify(id)},${timestampMs},${level(document)},`,
    body,
    tail: `,${flags}]`,
    sizeBytes: body.length * (BEYOND_LATIN1.test(body) ? 2 : 1) + ROW_OVERHEAD_BYTES,
  };
}

/**
 * Returns the requested fields of an event as JSON; `null` if it has none of them. Leaves out fields that are too long or
 * too deep.
 */
export function renderFields(document: EventDocument, fields: readonly string[], sizeLimit: number): string {
  const found: Record<string, unknown> = {};
  let count = 0;
  for (const field of fields) {
    const value = document.value(field);
    if (value === undefined || isDeeper(value, MAX_FIELD_DEPTH)) continue;
    found[field] = value;
    count += 1;
  }
  if (count === 0) return NO_FIELDS;
  const json = JSON.stringify(found);
  return json.length > sizeLimit ? NO_FIELDS : json;
}

function level(document: EventDocument): Level {
  for (const field of LEVEL_FIELDS) {
    const found = levelOf(document.value(field));
    if (found > 0) return found;
  }
  return 0;
}

function text(document: EventDocument, field: string): string {
  const value = document.value(field);
  return typeof value === "string" ? value : "";
}
