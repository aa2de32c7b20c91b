/** How the fields of an index pattern are shown, for all readers of a hub: a saved object of each pattern. */

import { SavedClient } from "#ui/services/hub/saved-client.ts";
import {
  type FieldFormat,
  type FieldFormats,
  FORMAT_KINDS,
  LENGTH_UNITS,
} from "#ui/services/text/field-format.ts";
import { hashOf } from "#ui/services/text/hash.ts";

/** A pattern's formats as they are saved; no revision: none are saved yet. */
export interface SavedFormats {
  readonly pattern: string;
  readonly formats: FieldFormats;
  readonly revision: number | undefined;
}

/** Maximum number of formats: a longer form is not usable. */
export const MAX_FORMATS = 200;
const MAX_ID = 100;
/** Of a saved object; the id distinguishes longer patterns. */
const MAX_TITLE = 200;
/** Where a link may lead: elsewhere by HTTP, or to a page of the dashboard. */
const LINK = /^(?:https?:\/\/|#\/)/;

/**
 * Returns the id of a pattern's object: letters, digits and `-` stay, all else is written in hexadecimal. A long one is
 * cut and ends with a hash of the pattern.
 */
export function dataViewId(pattern: string): string {
  const id = pattern.replaceAll(/[^A-Za-z0-9-]/g, (sign) => `_${sign.codePointAt(0)!.toString(16)}`);
  if (id.length <= MAX_ID) return id;
  const hash = hashOf(pattern).toString(16).padStart(8, "0");
  return `${id.slice(0, MAX_ID - hash.length - 1)}_${hash}`;
}

/** Returns the formats of saved attributes; what isn't right in them is left out. */
export function readFormats(attributes: Readonly<Record<string, unknown>>): FieldFormats {
  const { formats } = attributes;
  if (typeof formats !== "object" || formats === null) return new Map();
  const entries = Object.entries(formats).slice(0, MAX_FORMATS);
  return new Map(
    entries.flatMap(([field, format]) => readFormat(format).map((read) => [field, read] as const)),
  );
}

function readFormat(value: unknown): FieldFormat[] {
  const { kind, unit, template } = (value ?? {}) as Partial<Record<keyof FieldFormat, unknown>>;
  const known = FORMAT_KINDS.find((one) => one === kind);
  if (known === undefined) return [];
  if (known === "duration") {
    const length = LENGTH_UNITS.find((one) => one === unit);
    return length === undefined ? [] : [{ kind: known, unit: length }];
  }
  if (known !== "link") return [{ kind: known }];
  return isTemplate(template) ? [{ kind: known, template }] : [];
}

/** True for an address with a placeholder for the value. */
export function isTemplate(text: unknown): text is string {
  return typeof text === "string" && text.length <= 1_000 && LINK.test(text) && text.includes("{value}");
}

/** All calls throw HubError. */
export class DataViews {
  readonly #store = new SavedClient();

  /** Returns a pattern's formats; none if none are saved. */
  async load(pattern: string, signal?: AbortSignal): Promise<SavedFormats> {
    const id = dataViewId(pattern);
    const saved = (await this.#store.list("data-view", signal)).find((one) => one.id === id);
    if (saved === undefined) return { pattern, formats: new Map(), revision: undefined };
    return { pattern, formats: readFormats(saved.attributes), revision: saved.revision };
  }

  async save({ pattern, formats, revision }: SavedFormats): Promise<SavedFormats> {
    const attributes = { formats: Object.fromEntries(formats) };
    const saved = await this.#store.put(
      "data-view",
      dataViewId(pattern),
      pattern.slice(0, MAX_TITLE),
      attributes,
      revision,
    );
    return { pattern, formats, revision: saved.revision };
  }
}
