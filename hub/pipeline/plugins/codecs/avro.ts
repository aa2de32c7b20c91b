/** Codec avro: events as Avro records (avro.apache.org), each by the schema of a file. */

import { readFileSync } from "node:fs";
import { AvroReader, AvroWriter } from "#hub/pipeline/formats/avro-bytes.ts";
import { compileAvro } from "#hub/pipeline/formats/avro-schema.ts";
import type { AvroType } from "#hub/pipeline/formats/avro-types.ts";
import { damageReason } from "#hub/pipeline/formats/damaged-bytes.ts";
import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { Event, isHash } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const FAILURE_TAG = "_avroparsefailure";
/** Tag of a record that can be read with and without a registry's head before it. */
const AMBIGUITY_TAG = "_avroframingambiguous";

type Framing = "auto" | "plain" | "registry";

export const avroCodec = defineCodec({
  name: "avro",
  description:
    "Avro records by the schema of a file, one a payload; bytes that aren't text are read in base64, decimals as text",
  options: options({
    schema_uri: text("file of the schema, JSON"),
    encoding: oneOf(
      ["binary", "base64"],
      "base64: records are written in base64, and read in either form",
      "base64",
    ),
    framing: oneOf(
      ["auto", "plain", "registry"],
      `what precedes each record: plain: nothing; registry: the number of a schema, as serializers of a schema registry write it; auto: either; if both fit, the number is left out and the event has the tag ${AMBIGUITY_TAG}`,
      "auto",
    ),
    target: optional(text("target field for the record; default: its fields become the event's")),
    tag_on_failure: withoutEffect("what can't be read is always tagged", Type.Boolean({ default: false })),
  }),
  create({ schema_uri, encoding, framing, target }) {
    const type = readSchema(schema_uri);
    const into = target === undefined || target === "" ? undefined : fieldReference(target);
    return {
      decode(payload, timeMs) {
        const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
        try {
          const packed = encoding === "base64" ? unpacked(bytes) : bytes;
          const { record, isAmbiguous } = readFramed(type, packed, framing);
          const event = new Event(into === undefined ? record : {}, timeMs);
          if (into !== undefined) event.set(into, record);
          if (isAmbiguous) event.tag(AMBIGUITY_TAG);
          return [event];
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          const fields = { message: bytes.toString("latin1"), error: { message: damageReason(error) } };
          const event = new Event(fields, timeMs);
          event.tag(FAILURE_TAG);
          return [event];
        }
      },
      encode(event) {
        const writer = new AvroWriter();
        type.write(writer, event.fields);
        return encoding === "base64" ? Buffer.from(writer.bytes.toString("base64")) : writer.bytes;
      },
    };
  },
});

/** Throws for a schema that can't be read or is none. */
function readSchema(uri: string): AvroType {
  if (/^https?:/.test(uri))
    throw new Error("schemas aren't fetched: save it in a file, and write schema_uri => with its path");
  return compileAvro(JSON.parse(readFileSync(uri.replace(/^file:\/\//, ""), "utf8")));
}

/** What serializers of a schema registry write before a record: a zero, and the number of its schema. Bytes. */
const REGISTRY_HEAD = 5;

/** Reads a record after what precedes it. Throws RangeError. */
function readFramed(
  type: AvroType,
  bytes: Buffer,
  framing: Framing,
): { record: JsonObject; isAmbiguous: boolean } {
  const mayHaveHead = bytes[0] === 0 && bytes.length >= REGISTRY_HEAD;
  const body = bytes.subarray(REGISTRY_HEAD);
  if (framing === "registry") {
    if (!mayHaveHead) throw new RangeError("the record lacks the header of a schema registry");
    return { record: readRecord(type, body), isAmbiguous: false };
  }
  if (framing === "plain" || !mayHaveHead) return { record: readRecord(type, bytes), isAmbiguous: false };
  const framed = tryRecord(type, body);
  if (framed === undefined) return { record: readRecord(type, bytes), isAmbiguous: false };
  return { record: framed, isAmbiguous: tryRecord(type, bytes) !== undefined };
}

/** Returns a record; undefined: the bytes hold none. */
function tryRecord(type: AvroType, bytes: Buffer): JsonObject | undefined {
  try {
    return readRecord(type, bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readRecord(type: AvroType, bytes: Buffer): JsonObject {
  const reader = new AvroReader(bytes);
  const record = type.read(reader);
  if (!reader.isAtEnd) throw new RangeError("bytes follow the record: it has another schema");
  if (!isHash(record)) throw new RangeError("the schema isn't that of a record");
  return record;
}

/** Returns what base64 stands for; bytes that are none as they are. */
function unpacked(bytes: Buffer): Buffer {
  const written = bytes.toString("latin1").trim();
  return /^[A-Za-z0-9+/]+={0,2}$/.test(written) && written.length % 4 === 0
    ? Buffer.from(written, "base64")
    : bytes;
}
