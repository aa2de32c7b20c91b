/** Saved objects of Kibana 6.5 to 7.17: reads the forms of its exports and of its API into one form. */

import { parseJson } from "#hub/search/options/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** A saved object of Kibana. */
export interface KibanaObject {
  readonly type: string;
  readonly id: string;
  readonly attributes: JsonObject;
  readonly references: readonly Reference[];
}

/** A reference to another object. */
export interface Reference {
  readonly name: string;
  readonly type: string;
  readonly id: string;
}

/** Maximum number of objects of one import. */
export const MAX_OBJECTS = 10_000;

/**
 * Reads an export: lines of JSON (7.x), a list (6.x), `{objects: […]}` of the dashboards' interface, or documents of the
 * index .kibana. Throws request_invalid naming the line.
 */
export function readExport(text: string): KibanaObject[] {
  const values = valuesOf(text);
  if (values.length > MAX_OBJECTS)
    throw new AppError(
      "request_invalid",
      `an import has at most ${MAX_OBJECTS} objects, this one has ${values.length}`,
    );
  const found = values.flatMap((value) => objectOf(value) ?? []);
  if (found.length === 0)
    throw new AppError(
      "request_invalid",
      "no saved objects: give a file of Management, Saved Objects, Export",
    );
  return found;
}

function valuesOf(text: string): readonly unknown[] {
  const whole = parsed(text);
  if (Array.isArray(whole)) return whole as unknown[];
  if (isObject(whole)) return Array.isArray(whole["objects"]) ? (whole["objects"] as unknown[]) : [whole];
  return text.split("\n").flatMap((line, at) => {
    if (line.trim() === "") return [];
    const value = parsed(line);
    if (value === undefined)
      throw new AppError(
        "request_invalid",
        `line ${at + 1} is not JSON: give a file of Management, Saved Objects, Export`,
      );
    return [value];
  });
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Returns an object given in any of the forms; undefined for any other value, such as the summary of an export. */
export function objectOf(value: unknown): KibanaObject | undefined {
  if (!isObject(value)) return undefined;
  const source = value["_source"];
  const isDocument = isObject(source) && typeof source["type"] === "string";
  const type = isDocument ? source["type"] : (value["type"] ?? value["_type"]);
  const given = value["id"] ?? value["_id"];
  const held = isDocument ? source[String(type)] : (value["attributes"] ?? source);
  if (typeof type !== "string" || typeof given !== "string" || !isObject(held)) return undefined;
  const references = isDocument ? source["references"] : value["references"];
  return {
    type,
    // Documents of .kibana have ids such as "dashboard:ID".
    id: isDocument ? given.replace(/^(?:[\w-]+:)?[a-z-]+:/, "") : given,
    attributes: held,
    references: Array.isArray(references) ? references.filter(isReference) : [],
  };
}

function isReference(value: unknown): value is Reference {
  return isObject(value) && ["name", "type", "id"].every((name) => typeof value[name] === "string");
}

/** Returns the JSON object in a text attribute; {} if there is none. */
export function jsonIn(attributes: JsonObject, name: string): JsonObject {
  const value = attributes[name];
  const found = typeof value === "string" ? parsed(value) : value;
  return isObject(found) ? found : {};
}

/** Returns the list in a text attribute. */
export function listIn(attributes: JsonObject, name: string): readonly JsonObject[] {
  const value = attributes[name];
  const found = typeof value === "string" ? parsed(value) : value;
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** Returns the first value that is a text or a number, as text; undefined if there is none. */
export function textOf(...values: readonly unknown[]): string | undefined {
  const found = values.find((value) => typeof value === "string" || typeof value === "number");
  return found === undefined ? undefined : `${found as string | number}`;
}

/** Returns `id` in a form that the hub accepts as an id. */
export function hubId(id: string): string {
  const plain = id.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 100);
  return plain === "" ? "imported" : plain;
}
