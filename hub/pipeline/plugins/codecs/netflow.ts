/** Codec netflow: packets of NetFlow versions 5 and 9 and of IPFIX, an event for each flow. */

import { damageReason } from "#hub/pipeline/formats/damaged-bytes.ts";
import { FlowReader } from "#hub/pipeline/formats/flow-packet.ts";
import type { FlowRecord } from "#hub/pipeline/formats/flow-record.ts";
import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { Event } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { flag, number, options, refused, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { MINUTE_MS } from "#proto/kit/units.ts";
import { plainCodec } from "./plain.ts";

const FAILURE_TAG = "_netflowparsefailure";
/** Tag of an event for a set of records whose template hasn't come yet. */
const TEMPLATE_TAG = "_netflowtemplatemissing";

const RENAME = "fields have the names of their standards; the filter mutate renames them";

export const netflowCodec = defineCodec({
  name: "netflow",
  description: "reads flow records of routers: NetFlow versions 5 and 9, and IPFIX",
  options: options({
    target: text("target field for a flow's fields", "netflow"),
    versions: Type.Array(Type.Enum([5, 9, 10]), {
      description: "versions to read, 10 is IPFIX; packets of other ones are dropped",
      default: [5, 9, 10],
    }),
    cache_ttl: number("how long a template is valid after it came, minutes", 4000),
    include_flowset_id: flag("records of IPFIX have the number of their set as flowset_id", false),
    cache_save_path: refused("templates are kept in memory, routers repeat them every few minutes"),
    netflow_definitions: refused(RENAME),
    ipfix_definitions: refused(RENAME),
  }),
  create({ target, versions, cache_ttl, include_flowset_id }) {
    const reader = new FlowReader({ templateMs: cache_ttl * MINUTE_MS, withSetId: include_flowset_id });
    const into = fieldReference(target);
    const read = new Set<number>(versions);
    const plain = plainCodec.create({ charset: "UTF-8" });
    return {
      decode(payload, timeMs, sender = "") {
        const packet = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
        const version = packet.length < 2 ? 0 : packet.readUInt16BE(0);
        if ((version === 5 || version === 9 || version === 10) && !read.has(version)) return [];
        const events: Event[] = [];
        try {
          for (const record of reader.read(packet, sender, timeMs)) events.push(eventOf(record, into));
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          const event = new Event(
            { message: packet.toString("hex"), error: { message: damageReason(error) } },
            timeMs,
          );
          event.tag(FAILURE_TAG);
          events.push(event);
        }
        return events;
      },
      encode: (event) => plain.encode(event),
    };
  },
});

function eventOf({ timeMs, values, isUnknown = false }: FlowRecord, into: FieldReference): Event {
  const event = new Event({}, timeMs);
  event.set(into, values);
  if (isUnknown) event.tag(TEMPLATE_TAG);
  return event;
}
