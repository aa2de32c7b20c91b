/** What the schema of settings says of a part of them, for messages. */

import type { TSchema } from "typebox";

/** Returns the part of a schema that says what the part of a value is; one that says nothing where it can't be told. */
export function schemaAt(schema: TSchema, parts: readonly string[]): TSchema {
  let at: TSchema = schema;
  for (const name of parts) {
    const { properties, items } = at as { properties?: Record<string, TSchema>; items?: TSchema };
    at = properties?.[name] ?? items ?? {};
  }
  return at;
}

/** Returns the values that a setting with few of them takes, in words. */
export function choices(schema: TSchema): string | undefined {
  const { anyOf } = schema as { anyOf?: readonly { readonly const?: unknown }[] };
  const values = anyOf?.map((each) => each.const);
  if (values === undefined || values.includes(undefined)) return undefined;
  return `must be one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
}

/** Names of the properties that the part of `schema` at `schemaPath` ("#/items") knows. */
export function propertyNames(schema: TSchema, schemaPath: string): string[] {
  let at: unknown = schema;
  for (const part of schemaPath.split("/").slice(1)) {
    if (part !== "additionalProperties") at = (at as Record<string, unknown> | undefined)?.[part];
  }
  return Object.keys((at as { properties?: object } | undefined)?.properties ?? {});
}
