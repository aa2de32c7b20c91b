/** Codec cloudtrail: the files of AWS CloudTrail, an event for each record (docs.aws.amazon.com, "CloudTrail record contents"). */

import { isIP } from "node:net";
import { unpackPayload } from "#hub/pipeline/formats/gzip-payload.ts";
import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, isHash } from "#proto/event.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { options } from "#proto/kit/options.ts";
import { jsonCodec } from "./json.ts";
import { charsetOption, toUtf8 } from "./plain.ts";

const FAILURE_TAG = "_cloudtrailparsefailure";

/** Where a record names its sender; services write a name there instead of an address. */
const ADDRESSES = ["sourceIPAddress", "sourceIpAddress"];

export const cloudtrailCodec = defineCodec({
  name: "cloudtrail",
  description: "reads files of AWS CloudTrail, packed by gzip or not: an event for each of the Records",
  options: options({ charset: charsetOption }),
  create({ charset }) {
    const utf8 = toUtf8(charset);
    const json = jsonCodec.create({ charset: "UTF-8" });
    return {
      decode(payload, timeMs) {
        const { bytes, fault } = unpackPayload(payload);
        const text = decodeText(utf8(bytes));
        const records = parseEventObject(text)?.["Records"];
        if (Array.isArray(records) && records.every(isHash))
          return records.map((record) => new Event(named(record), timeMs));
        const reason = fault ?? "there is no list of Records";
        const failure = new Event({ message: text, error: { message: reason } }, timeMs);
        failure.tag(FAILURE_TAG);
        return [failure];
      },
      encode: (event) => json.encode(event),
    };
  },
});

/** Returns a record's fields, each with one type whatever the service that wrote it. */
function named({ eventTime, ...record }: JsonObject): JsonObject {
  if (eventTime !== undefined) record["@timestamp"] = eventTime;
  for (const name of ADDRESSES) {
    const address = record[name];
    if (typeof address !== "string" || isIP(address) !== 0) continue;
    delete record[name];
    record["sourceHost"] = address;
  }
  const parameters = record["requestParameters"];
  if (isHash(parameters) && Object.hasOwn(parameters, PROTECTION) && !isHash(parameters[PROTECTION]))
    parameters[PROTECTION] = { value: parameters[PROTECTION] };
  return record;
}

/** A parameter that is a flag in one call and a table in another. */
const PROTECTION = "disableApiTermination";
