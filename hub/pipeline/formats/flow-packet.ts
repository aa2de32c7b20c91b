/**
 * Packets of NetFlow version 5 and 9 (RFC 3954) and of IPFIX (RFC 7011): records of the flows that a router saw. From version
 * 9 on, templates that come in packets of their own say what a record consists of.
 */

import { type FlowField, ipfixField, netflowField, netflowScope } from "./flow-fields.ts";
import { type FlowRecord, type FlowValues, type PacketHead, timed } from "./flow-record.ts";
import { FlowTemplates, type TemplateField } from "./flow-templates.ts";
import { readVersion5 } from "./flow-version5.ts";

/** A record has so many fields at most; routers send some 60. */
const MAX_FIELDS = 512;
/**
 * Records read of a packet, and fields of all of them: each becomes some 30 bytes of an event even if it has a single one in
 * the packet. Routers keep to datagrams of 1,500 bytes, a few dozen records; jumbo frames hold a tenth of this.
 */
const MAX_RECORDS = 2048;
const MAX_PACKET_FIELDS = 16_384;

/** Length of a field whose records contain its length (RFC 7011 §7). */
const VARIABLE = 0xffff;

/** Bit of a field's type after which the number of an enterprise follows. */
const ENTERPRISE_BIT = 0x8000;

export interface FlowReaderOptions {
  /** How long a template is valid, ms. */
  readonly templateMs: number;
  /** True: records of IPFIX have the number of their set as flowset_id. */
  readonly withSetId: boolean;
}

/** Reads packets; remembers their templates. */
export class FlowReader {
  readonly #options: FlowReaderOptions;
  readonly #templates = new FlowTemplates();

  constructor(options: FlowReaderOptions) {
    this.#options = options;
  }

  /** Yields the records of a packet that came from `sender` at `nowMs`. Throws RangeError where the packet is damaged. */
  *read(packet: Buffer, sender: string, nowMs: number): Generator<FlowRecord, void> {
    const version = packet.readUInt16BE(0);
    if (version === 5) yield* readVersion5(packet);
    else if (version === 9) yield* this.#sets(packet, 20, netflowHead(packet, sender), nowMs);
    else if (version === 10) yield* this.#sets(ipfixMessage(packet), 16, ipfixHead(packet, sender), nowMs);
    else throw new RangeError(`there is no version ${version}`);
  }

  *#sets(packet: Buffer, from: number, head: PacketHead, nowMs: number): Generator<FlowRecord, void> {
    const isIpfix = head.uptimeMs === undefined;
    let records = 0;
    let fields = 0;
    for (let at = from; at + 4 <= packet.length; ) {
      const id = packet.readUInt16BE(at);
      const length = packet.readUInt16BE(at + 2);
      if (length === 0) return; // padding
      if (length < 4 || at + length > packet.length) throw new RangeError("a set is longer than its packet");
      const set = packet.subarray(at + 4, at + length);
      at += length;
      if (id < 256) this.#takeTemplates(set, id, isIpfix, head, nowMs);
      else {
        for (const record of this.#records(set, id, head, nowMs)) {
          if (++records > MAX_RECORDS) throw new RangeError(`a packet has more than ${MAX_RECORDS} records`);
          fields += record.fieldCount ?? 0;
          if (fields > MAX_PACKET_FIELDS)
            throw new RangeError(`the records of a packet have more than ${MAX_PACKET_FIELDS} fields`);
          yield record;
        }
      }
    }
  }

  #takeTemplates(set: Buffer, id: number, isIpfix: boolean, head: PacketHead, nowMs: number): void {
    if (id > (isIpfix ? 3 : 1) || (isIpfix && id < 2)) return; // reserved
    const reader = new TemplateReader(set, isIpfix);
    while (reader.hasMore) {
      const { number, fields } = id === 0 || id === 2 ? reader.template() : reader.options();
      this.#templates.set(head.sender, `${head.source} ${number}`, { fields, sinceMs: nowMs });
    }
  }

  *#records(set: Buffer, id: number, head: PacketHead, nowMs: number): Generator<FlowRecord, void> {
    const { templateMs, withSetId } = this.#options;
    const isIpfix = head.uptimeMs === undefined;
    const { timeMs } = head;
    const base = isIpfix && !withSetId ? head.values : { ...head.values, flowset_id: id };
    const template = this.#templates.get(head.sender, `${head.source} ${id}`);
    if (template === undefined || nowMs - template.sinceMs > templateMs) {
      yield { timeMs, values: { ...head.values, flowset_id: id }, isUnknown: true };
      return;
    }
    const least = template.fields.reduce((sum, { length }) => sum + (length === VARIABLE ? 1 : length), 0);
    for (let at = 0; at + least <= set.length; ) {
      const values: FlowValues = { ...base };
      for (const field of template.fields) {
        let { length } = field;
        if (length === VARIABLE) {
          length = set.readUInt8(at++);
          if (length === 255) {
            length = set.readUInt16BE(at);
            at += 2;
          }
        }
        if (at + length > set.length) throw new RangeError("a record is longer than its set");
        if (length > 0 && field.kind !== "p")
          values[field.name] = timed(field, set.subarray(at, at + length), head);
        at += length;
      }
      yield { timeMs, values, fieldCount: template.fields.length };
    }
  }
}

/** Reads the templates of a set. */
class TemplateReader {
  readonly #set: Buffer;
  readonly #isIpfix: boolean;
  #at = 0;

  constructor(set: Buffer, isIpfix: boolean) {
    this.#set = set;
    this.#isIpfix = isIpfix;
  }

  /** True where more than padding is left. */
  get hasMore(): boolean {
    return this.#at + 4 <= this.#set.length && this.#set.readUInt16BE(this.#at) >= 256;
  }

  template(): { number: number; fields: TemplateField[] } {
    const number = this.#next();
    return { number, fields: this.#fields(this.#next(), 0) };
  }

  /** Reads a template of records about the router itself. */
  options(): { number: number; fields: TemplateField[] } {
    const number = this.#next();
    const first = this.#next();
    if (this.#isIpfix) return { number, fields: first === 0 ? [] : this.#fields(first, this.#next()) };
    // NetFlow counts the bytes of its scopes and fields, 4 for each.
    const scopes = first >> 2;
    return { number, fields: this.#fields(scopes + (this.#next() >> 2), scopes) };
  }

  #fields(count: number, scopes: number): TemplateField[] {
    if (count > MAX_FIELDS) throw new RangeError(`a template has more than ${MAX_FIELDS} fields`);
    const fields: TemplateField[] = [];
    for (let index = 0; index < count; index++) {
      const type = this.#next();
      const length = this.#next();
      const field = this.#isIpfix ? this.#ipfix(type) : (index < scopes ? netflowScope : netflowField)(type);
      fields.push({ ...field, length });
    }
    // Records without a byte would never end.
    if (count > 0 && fields.every(({ length }) => length === 0)) throw new RangeError("a template is empty");
    return fields;
  }

  #ipfix(type: number): FlowField {
    if ((type & ENTERPRISE_BIT) === 0) return ipfixField(type, 0);
    const enterprise = this.#set.readUInt32BE(this.#at);
    this.#at += 4;
    return ipfixField(type & ~ENTERPRISE_BIT, enterprise);
  }

  #next(): number {
    const value = this.#set.readUInt16BE(this.#at);
    this.#at += 2;
    return value;
  }
}

function netflowHead(packet: Buffer, sender: string): PacketHead {
  return {
    uptimeMs: packet.readUInt32BE(4),
    timeMs: packet.readUInt32BE(8) * 1000,
    values: { version: 9, flow_seq_num: packet.readUInt32BE(12) },
    sender,
    source: `9 ${packet.readUInt32BE(16)}`,
  };
}

function ipfixHead(packet: Buffer, sender: string): PacketHead {
  return {
    timeMs: packet.readUInt32BE(4) * 1000,
    values: { version: 10 },
    sender,
    source: `10 ${packet.readUInt32BE(12)}`,
  };
}

/** Returns the packet without what follows it. */
function ipfixMessage(packet: Buffer): Buffer {
  const length = packet.readUInt16BE(2);
  if (length < 16 || length > packet.length) throw new RangeError("a message is longer than its packet");
  return packet.subarray(0, length);
}
