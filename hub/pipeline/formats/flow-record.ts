/** Records of flows, and their points in time, which routers count from other times than 1970. */

import { Timestamp } from "#proto/event.ts";
import { type FlowField, fieldValue } from "./flow-fields.ts";

/** From 1900, where NTP counts from, to 1970. Seconds. */
const NTP_EPOCH_S = 2_208_988_800n;

export type FlowValues = Record<string, unknown>;

export interface FlowRecord {
  readonly timeMs: number;
  /** Fields of the packet and of the record. */
  readonly values: FlowValues;
  /** Fields of the record's template; undefined without one. */
  readonly fieldCount?: number;
  /** True: no template says what the set consists of; `values` then is of the packet alone. */
  readonly isUnknown?: boolean;
}

/** What a packet says before its records. */
export interface PacketHead {
  readonly timeMs: number;
  /** Time since the router's start, ms; undefined in IPFIX. */
  readonly uptimeMs?: number;
  /** Common to all records of the packet. */
  readonly values: FlowValues;
  /** Address. */
  readonly sender: string;
  /** Which of the sender's observers: the version and a source id. */
  readonly source: string;
}

/** Returns a field's value, points in time as ISO 8601. */
export function timed({ name, kind }: FlowField, bytes: Buffer, { timeMs, uptimeMs }: PacketHead): unknown {
  const value = fieldValue(kind, bytes);
  if (typeof value === "number" && uptimeMs !== undefined && name.endsWith("_switched"))
    return isoTime(timeMs - uptimeMs + value);
  const unit = uptimeMs === undefined ? /^flow(?:Start|End)(S|Mill|M|N)/.exec(name)?.[1] : undefined;
  if (typeof value === "number" && unit === "S" && name.endsWith("Seconds")) return isoTime(value * 1000);
  if (typeof value === "number" && unit === "Mill") return isoTime(value);
  if ((unit === "M" || unit === "N") && bytes.length === 8) return isoTime(ntpMs(bytes.readBigUInt64BE()));
  return value;
}

/** Times out of reach are those at its ends. */
function isoTime(timeMs: number): string {
  return new Timestamp(timeMs).toString();
}

/** Returns a time of NTP, seconds since 1900 with 32 bits after the point, as ms since 1970. */
function ntpMs(time: bigint): number {
  return Number((time >> 32n) - NTP_EPOCH_S) * 1000 + Math.floor(Number(time & 0xffffffffn) / 4_294_967.296);
}
