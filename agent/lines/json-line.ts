/**
 * Decodes lines that are JSON objects at the agent. A line that can't be decoded stays a message; nothing is dropped.
 */

import type { Static } from "typebox";
import { parseEventObject } from "#proto/codec/json.ts";
import { type JsonObject, setMember } from "#proto/kit/json.ts";
import { Type } from "#proto/kit/schema.ts";
import { eventTimeMs } from "./event-time.ts";

/** Settings of inputs that read lines. */
export const jsonProperties = {
  "json.enabled": Type.Optional(
    Type.Boolean({
      description: "Decode each line as a JSON object; on if another json setting is set.",
    }),
  ),
  "json.keys_under_root": Type.Optional(
    Type.Boolean({
      description:
        "Put the object's members beside `message`; members named like the agent's own fields stay under `json`, but its tags join the input's.",
    }),
  ),
  "json.overwrite_keys": Type.Optional(
    Type.Boolean({
      description:
        "With keys_under_root: members override the agent's own fields, and @timestamp becomes the event's time; error.message says why it doesn't.",
    }),
  ),
  "json.add_error_key": Type.Optional(
    Type.Boolean({ description: "Record in error.message and error.type why a line can't be decoded." }),
  ),
  "json.message_key": Type.Optional(
    Type.String({
      minLength: 1,
      description: "Member that becomes `message`; filters and multiline apply to it.",
    }),
  ),
};

type Settings = { [K in keyof typeof jsonProperties]?: Static<(typeof jsonProperties)[K]> };

/** A decoded line. */
export interface DecodedLine {
  /** Text of the event; undefined: the line itself. */
  readonly message: string | undefined;
  readonly fields: JsonObject;
  /** ms since 1970-01-01 UTC; 0: the line has no time. */
  readonly timeMs: number;
}

/** Members that belong to the agent unless overwrite_keys is set. */
const OWN = new Set(["@timestamp", "message", "host", "shipper", "input", "log", "fields", "tags"]);

export class JsonLineDecoder {
  readonly #underRoot: boolean;
  readonly #overwrite: boolean;
  readonly #errorKey: boolean;
  readonly #messageKey: string | undefined;
  /** Tags of the input, which those of a line join. */
  readonly #tags: readonly unknown[];

  constructor(settings: Settings, tags: readonly unknown[] = []) {
    this.#tags = tags;
    this.#underRoot = settings["json.keys_under_root"] ?? false;
    this.#overwrite = settings["json.overwrite_keys"] ?? false;
    this.#errorKey = settings["json.add_error_key"] ?? false;
    this.#messageKey = settings["json.message_key"];
  }

  /** Returns the text of a line that filters and multiline examine. */
  textOf(line: string): string {
    if (this.#messageKey === undefined) return line;
    const value = parseEventObject(line)?.[this.#messageKey];
    return typeof value === "string" ? value : line;
  }

  /**
   * Decodes the lines of an event: each an object whose texts are joined, where a message key is set, or all together one
   * object.
   */
  decode(lines: readonly string[]): DecodedLine {
    const [first = "", ...rest] = lines;
    const key = this.#messageKey;
    const ofFirst = key === undefined && rest.length > 0 ? undefined : parseEventObject(first);
    const object = ofFirst ?? (rest.length === 0 ? undefined : parseEventObject(lines.join("\n")));
    if (object === undefined) return this.#failed("the line is not a JSON object");
    if (key === undefined) return { message: "", ...this.#fields(object) };
    const value = object[key];
    if (typeof value !== "string") return this.#failed(`the object has no text "${key}"`, object);
    const others = ofFirst === undefined ? [] : rest.map((line) => this.textOf(line));
    return { message: [value, ...others].join("\n"), ...this.#fields(object) };
  }

  #fields(object: JsonObject): Pick<DecodedLine, "fields" | "timeMs"> {
    if (!this.#underRoot) return { fields: { json: object }, timeMs: 0 };
    const fields: JsonObject = {};
    const displaced: JsonObject = {};
    let timeMs = 0;
    for (const [name, value] of Object.entries(object)) {
      if (!OWN.has(name)) setMember(fields, name, value);
      else if (name === "tags" && Array.isArray(value))
        fields[name] = [...new Set([...this.#tags, ...value])];
      else if (this.#overwrite && name === "@timestamp" && eventTimeMs(value) > 0)
        timeMs = eventTimeMs(value);
      else if (this.#overwrite && name !== "message" && name !== "@timestamp") fields[name] = value;
      else if (name !== this.#messageKey) displaced[name] = value;
    }
    if (this.#overwrite && displaced["@timestamp"] !== undefined) {
      const reason = typeof displaced["@timestamp"] === "string" ? "no time" : "not string";
      // An error that the line reports is beside the time that wasn't read.
      if (Object.hasOwn(fields, "error")) displaced["error"] = fields["error"];
      fields["error"] = { message: `@timestamp not overwritten (${reason})`, type: "json" };
    }
    if (Object.keys(displaced).length > 0) fields["json"] = displaced;
    return { fields, timeMs };
  }

  #failed(reason: string, object?: JsonObject): DecodedLine {
    const decoded = object === undefined ? { fields: {}, timeMs: 0 } : this.#fields(object);
    if (!this.#errorKey) return { ...decoded, message: undefined };
    const fields = { ...decoded.fields, error: { message: `Error decoding JSON: ${reason}`, type: "json" } };
    return { message: undefined, fields, timeMs: decoded.timeMs };
  }
}

const NO_JSON = new Uint8Array(0);

/** Returns the decoder, or null if lines aren't decoded. `fieldsJson`: see InputContext. */
export function jsonDecoderOf(settings: Settings, fieldsJson: Uint8Array = NO_JSON): JsonLineDecoder | null {
  const given = Object.keys(jsonProperties).some((key) => settings[key as keyof Settings] !== undefined);
  if (!given || settings["json.enabled"] === false) return null;
  const own = fieldsJson.length === 0 ? undefined : parseEventObject(Buffer.from(fieldsJson).toString());
  return new JsonLineDecoder(settings, (own?.["tags"] ?? []) as readonly unknown[]);
}
