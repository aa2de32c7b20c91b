/** The fields of the chosen indices, sub-fields folded into their parents. */

export interface Field {
  readonly name: string;
  /** As the search interface names it: text, keyword, date, long …; `conflict` where indices differ. */
  readonly type: string;
  /** The name its values can be counted by: itself or its keyword sub-field; undefined: they can't. */
  readonly aggregatableName: string | undefined;
}

export type FieldCatalogue = ReadonlyMap<string, Field>;

const NUMBER_TYPES: ReadonlySet<string> = new Set([
  "long",
  "integer",
  "short",
  "byte",
  "double",
  "float",
  "half_float",
  "scaled_float",
]);

/** Returns whether a field's values are numbers in all indices: those are aligned right. */
export function isNumber(field: Field | undefined): boolean {
  return field !== undefined && NUMBER_TYPES.has(field.type);
}

interface Capability {
  readonly searchable?: boolean;
  readonly aggregatable?: boolean;
}

/** The answer of `_field_caps`. */
export interface FieldCapabilities {
  readonly fields?: Readonly<Record<string, Readonly<Record<string, Capability>>>>;
}

/** Returns the catalogue of an answer, by name; internal fields (`_id` …) and objects are left out. */
export function readFields({ fields = {} }: FieldCapabilities): FieldCatalogue {
  const catalogue = new Map<string, Field>();
  for (const name of Object.keys(fields).toSorted()) {
    const types = Object.keys(fields[name]!).filter((type) => type !== "object" && type !== "nested");
    if (name.startsWith("_") || types.length === 0) continue;
    const parent = name.endsWith(".keyword") ? catalogue.get(name.slice(0, -".keyword".length)) : undefined;
    if (parent !== undefined) {
      if (parent.aggregatableName === undefined)
        catalogue.set(parent.name, { ...parent, aggregatableName: name });
      continue;
    }
    const type = types.length === 1 ? types[0]! : "conflict";
    const countable = types.every((one) => fields[name]![one]!.aggregatable === true);
    catalogue.set(name, { name, type, aggregatableName: countable ? name : undefined });
  }
  return catalogue;
}

export interface TopValue {
  readonly value: string;
  readonly count: number;
}

/** Counts a field's values in rows that are loaded, most frequent first. */
export function countValues(rows: readonly (readonly string[])[], limit: number): TopValue[] {
  const counts = new Map<string, number>();
  for (const values of rows)
    for (const value of new Set(values)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count)
    .slice(0, limit);
}

/** Lines that are looked into: the first ones, which the reader sees. */
const LOOKED_INTO = 100;

/** Returns the names of the fields that the first lines have; of what is within objects, those of the objects too. */
export function namesIn(
  rows: readonly { readonly fields: ReadonlyMap<string, unknown> }[],
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { fields } of rows.slice(0, LOOKED_INTO))
    for (let name of fields.keys())
      while (name !== "" && !names.has(name)) {
        names.add(name);
        name = name.slice(0, Math.max(0, name.lastIndexOf(".")));
      }
  return names;
}
