/** Fields that all documents of a RAW message share. */

import { parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { CONTAINER_MEMBERS } from "#proto/event-members.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import type { RawMessage } from "./raw-message.ts";

const ENCODER = new TextEncoder();

/** Parts of a document's JSON, and the same as objects for documents that need merging. */
export interface CommonFields {
  /** `"host":…,"shipper":…,"input":…,"event":…[,"container":…][,"kubernetes":…][,"fields":…]` without braces. */
  readonly members: Uint8Array;
  /** `"file":{"path":…},` or nothing: the members of `log` before the offset. */
  readonly logFile: Uint8Array;
  /** `"a","b"`: tags of the input, without brackets; empty for none. */
  readonly tags: Uint8Array;
  readonly object: Readonly<JsonObject>;
  readonly tagList: readonly string[];
  readonly path: string;
}

/** Returns what the documents of `message` share; `ingestedMs` becomes `event.ingested`. */
export function commonFields(message: RawMessage, ingestedMs: number): CommonFields {
  const settings =
    message.fieldsJson.length === 0 ? undefined : parseEventObject(decodeText(message.fieldsJson));
  const fields = settings?.["fields"];
  const tags = settings?.["tags"];
  const object: JsonObject = {
    host: { name: message.hostName },
    shipper: { id: message.agentId, name: message.agentName, version: message.agentVersion },
    input: { type: message.inputType },
    event: { ingested: new Date(ingestedMs).toISOString() },
  };
  for (const name of CONTAINER_MEMBERS) if (isObject(settings?.[name])) object[name] = settings[name];
  if (fields !== null && typeof fields === "object" && Object.keys(fields).length > 0) {
    object["fields"] = fields;
  }
  const tagList = Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
  return {
    members: ENCODER.encode(JSON.stringify(object).slice(1, -1)),
    logFile: ENCODER.encode(message.path === "" ? "" : `"file":{"path":${JSON.stringify(message.path)}},`),
    tags: ENCODER.encode(tagList.map((tag) => JSON.stringify(tag)).join(",")),
    object,
    tagList,
    path: message.path,
  };
}
