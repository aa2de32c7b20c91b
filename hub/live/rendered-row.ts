/** An event as the text of a `tail.rows` row, made once for all viewers. */

import { type Level, levelOf, ROW_TRUNCATED } from "#proto/live.ts";
import type { EventDocument } from "./filter/event-document.ts";

/** Where applications put their level, the most usual first. */
const LEVEL_FIELDS = ["log.level", "level", "severity", "loglevel"];

/** A row's JSON in three pieces; the number of the source goes behind `head`, the fields behind `body`. */
export interface RenderedRow {
  readonly timestampMs: number;
  /** The RowSource as JSON, as a key too. */
  readonly source: string;
  readonly head: string;
  readonly body: string;
  readonly tail: string;
}

/** Returns the row of an event, its message cut at `messageSize` characters. */
export function renderRow(document: EventDocument, messageSize: number): RenderedRow {
  const { index, id, timestampMs } = document.event;
  const message = document.message;
  const flags = message.length > messageSize ? ROW_TRUNCATED : 0;
  const shown = flags === 0 ? message : message.slice(0, messageSize).toWellFormed();
  return {
    timestampMs,
    source: JSON.stringify([index, text(document, "host.name"), text(document, "log.file.path")]),
    head: `[${JSON.stringify(id)},${timestampMs},${level(document)},`,
    body: `,${JSON.stringify(shown)},`,
    tail: `,${flags}]`,
  };
}

/** Returns the asked-for fields of an event as JSON; `null` where it has none of them. Longer ones are left out. */
export function renderFields(document: EventDocument, fields: readonly string[], sizeLimit: number): string {
  const found: Record<string, unknown> = {};
  let count = 0;
  for (const field of fields) {
    const value = document.value(field);
    if (value === undefined) continue;
    found[field] = value;
    count += 1;
  }
  if (count === 0) return "null";
  const json = JSON.stringify(found);
  return json.length > sizeLimit ? "null" : json;
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
