/** Schemas of Avro (avro.apache.org/docs/1.12.0/specification), compiled to what reads and writes values of theirs. */

import { decimal } from "#proto/codec/json.ts";
import { isHash, valueText } from "#proto/event.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { AvroReader } from "./avro-bytes.ts";
import {
  type AvroType,
  bytesType,
  decimalType,
  integerType,
  plainNumber,
  stringType,
  timeType,
} from "./avro-types.ts";

/** Compiles a schema. Throws for what is none, and for a name that isn't defined. */
export function compileAvro(schema: unknown): AvroType {
  return compile(schema, { types: new Map(), namespace: "" });
}

interface Scope {
  /** By their full names. */
  readonly types: Map<string, AvroType>;
  readonly namespace: string;
}

function compile(schema: unknown, scope: Scope): AvroType {
  if (typeof schema === "string")
    return PRIMITIVES[schema] ?? scope.types.get(fullName(schema, scope)) ?? unknown(schema);
  if (Array.isArray(schema)) return union(schema.map((each) => compile(each, scope)));
  if (!isHash(schema)) return unknown(schema);
  switch (schema["type"]) {
    case "record":
    case "error":
      return record(schema, scope);
    case "enum":
      return define(schema, scope, enumeration(textsOf(schema["symbols"])));
    case "fixed":
      return define(schema, scope, fixed(schema));
    case "array":
      return array(compile(schema["items"], scope));
    case "map":
      return map(compile(schema["values"], scope));
    default:
      return logical(schema, scope);
  }
}

function unknown(schema: unknown): never {
  throw new Error(`the schema has no type ${JSON.stringify(schema)?.slice(0, 100)}`);
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(valueText) : [];
}

function fullName(name: string, { namespace }: Scope): string {
  return name.includes(".") || namespace === "" ? name : `${namespace}.${name}`;
}

function define(schema: JsonObject, scope: Scope, type: AvroType): AvroType {
  const named = { ...scope, namespace: valueText(schema["namespace"] ?? scope.namespace) };
  scope.types.set(fullName(valueText(schema["name"]), named), type);
  return type;
}

/** JSON has no NaN and no infinity. */
const finite = (value: number): unknown => (Number.isFinite(value) ? decimal(value) : String(value));
const isNumber = (value: unknown): boolean => typeof plainNumber(value) === "number";

const PRIMITIVES: Readonly<Record<string, AvroType>> = {
  null: { read: () => null, takes: (value) => value === null || value === undefined, write: () => undefined },
  boolean: {
    read: (reader) => reader.byte() !== 0,
    takes: (value) => typeof value === "boolean",
    write: (writer, value) => writer.raw(Uint8Array.of(value === true ? 1 : 0)),
  },
  int: integerType(),
  long: integerType(),
  float: {
    read: (reader) => finite(reader.float()),
    takes: isNumber,
    write: (writer, value) => writer.float(Number(plainNumber(value))),
  },
  double: {
    read: (reader) => finite(reader.double()),
    takes: isNumber,
    write: (writer, value) => writer.double(Number(plainNumber(value))),
  },
  bytes: bytesType(),
  string: stringType(),
};

function enumeration(symbols: readonly string[]): AvroType {
  return {
    read: (reader) => symbols[reader.int()] ?? fail("an index isn't a symbol's"),
    takes: (value) => typeof value === "string" && symbols.includes(value),
    write: (writer, value) => writer.long(symbols.indexOf(valueText(value))),
  };
}

function fail(message: string): never {
  throw new RangeError(message);
}

/** In hexadecimal, unless they are decimals. */
function fixed(schema: JsonObject): AvroType {
  const size = Number(schema["size"]);
  const decimal = schema["logicalType"] === "decimal" ? decimalType(schema, size) : undefined;
  return (
    decimal ?? {
      read: (reader) => reader.take(size).toString("hex"),
      takes: (value) => typeof value === "string" && value.length === 2 * size && /^[0-9a-f]*$/i.test(value),
      write: (writer, value) => writer.raw(Buffer.from(valueText(value), "hex")),
    }
  );
}

/** Calls `item` for each item of the blocks of a list or table; a negative count has the block's bytes after it. */
function readBlocks(reader: AvroReader, item: () => void): void {
  for (let count = reader.int(); count !== 0; count = reader.int()) {
    if (count < 0) reader.int();
    for (let left = Math.abs(count); left > 0; left--) {
      reader.count();
      item();
    }
  }
}

function array(items: AvroType): AvroType {
  return {
    read(reader) {
      const list: unknown[] = [];
      readBlocks(reader, () => list.push(items.read(reader)));
      return list;
    },
    takes: (value) => Array.isArray(value) && value.every((each) => items.takes(each)),
    write(writer, value) {
      const list = value as readonly unknown[];
      if (list.length > 0) writer.long(list.length);
      for (const each of list) items.write(writer, each);
      writer.long(0);
    },
  };
}

function map(values: AvroType): AvroType {
  return {
    read(reader) {
      const entries: [string, unknown][] = [];
      readBlocks(reader, () => entries.push([reader.bytes().toString(), values.read(reader)]));
      return Object.fromEntries(entries);
    },
    takes: (value) => isHash(value) && Object.values(value).every((each) => values.takes(each)),
    write(writer, value) {
      const entries = Object.entries(value as JsonObject);
      if (entries.length > 0) writer.long(entries.length);
      for (const [key, each] of entries) {
        writer.bytesOf(Buffer.from(key));
        values.write(writer, each);
      }
      writer.long(0);
    },
  };
}

function union(types: readonly AvroType[]): AvroType {
  return {
    read: (reader) => (types[reader.int()] ?? fail("an index isn't a type's of a union")).read(reader),
    takes: (value) => types.some((type) => type.takes(value)),
    write(writer, value) {
      const index = types.findIndex((type) => type.takes(value));
      writer.long(index);
      types[index]!.write(writer, value);
    },
  };
}

function record(schema: JsonObject, scope: Scope): AvroType {
  const name = valueText(schema["name"]);
  const dot = name.lastIndexOf(".");
  const namespace = dot < 0 ? valueText(schema["namespace"] ?? scope.namespace) : name.slice(0, dot);
  const fields: { name: string; type: AvroType; fallback: unknown }[] = [];
  const fieldOf = (value: JsonObject, field: (typeof fields)[number]): unknown =>
    value[field.name] ?? field.fallback;
  const type: AvroType = {
    read(reader) {
      reader.enter();
      const entries = fields.map((field) => [field.name, field.type.read(reader)] as const);
      reader.leave();
      return Object.fromEntries(entries);
    },
    takes: (value) => isHash(value) && fields.every((field) => field.type.takes(fieldOf(value, field))),
    write(writer, value) {
      for (const field of fields) {
        const own = fieldOf(value as JsonObject, field);
        if (!field.type.takes(own))
          throw new Error(`the schema's field ${field.name} can't be made of the event`);
        field.type.write(writer, own);
      }
    },
  };
  scope.types.set(fullName(name, { ...scope, namespace }), type);
  const inner = { types: scope.types, namespace };
  if (!Array.isArray(schema["fields"])) throw new Error(`the record ${name} has no fields`);
  for (const field of schema["fields"]) {
    if (!isHash(field)) return unknown(field);
    fields.push({
      name: valueText(field["name"]),
      type: compile(field["type"], inner),
      fallback: field["default"],
    });
  }
  return type;
}

/** Returns the type of a schema that says more of a plain type. Logical types that aren't here are their plain ones. */
function logical(schema: JsonObject, scope: Scope): AvroType {
  const plain = schema["type"];
  const type = compile(plain, scope);
  const name = valueText(schema["logicalType"]);
  return (name === "decimal" && plain === "bytes" ? decimalType(schema) : timeType(type, name)) ?? type;
}
