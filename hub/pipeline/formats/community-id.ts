/** Community ID: one text for both directions of a network flow. https://github.com/corelight/community-id-spec, version 1. */

import { createHash } from "node:crypto";

/** Addresses as bytes of 4 or 16; ports are types and codes for ICMP. */
export interface Flow {
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  /** IANA's number. */
  readonly protocol: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

export const ICMP = 1;
export const ICMP6 = 58;
/** Protocols with ports: ICMP, TCP, UDP, ICMPv6, SCTP. */
const WITH_PORTS = new Set([ICMP, 6, 17, ICMP6, 132]);

/** Types of messages that answer one another. */
const ANSWERS: ReadonlyMap<number, number> = pairs([
  [8, 0],
  [13, 14],
  [15, 16],
  [10, 9],
  [17, 18],
]); // prettier-ignore
const ANSWERS6: ReadonlyMap<number, number> = pairs([
  [128, 129],
  [133, 134],
  [135, 136],
  [130, 131],
  [144, 145],
]); // prettier-ignore

/** Whether a flow of this protocol needs ports. */
export function hasPorts(protocol: number): boolean {
  return WITH_PORTS.has(protocol) && protocol !== ICMP && protocol !== ICMP6;
}

/** Returns "1:" and the hash of a flow. `seed`: 0 to 65535. */
export function communityId(flow: Flow, seed: number): string {
  const { source, destination, protocol } = flow;
  let { sourcePort, destinationPort } = flow;
  let isOneWay = false;
  if (protocol === ICMP || protocol === ICMP6) {
    const answer = (protocol === ICMP ? ANSWERS : ANSWERS6).get(sourcePort);
    isOneWay = answer === undefined;
    destinationPort = answer ?? destinationPort;
  }
  const order = Buffer.compare(source, destination);
  const keeps = isOneWay || order < 0 || (order === 0 && sourcePort < destinationPort);
  if (!keeps) [sourcePort, destinationPort] = [destinationPort, sourcePort];
  const hash = createHash("sha1").update(number16(seed));
  hash.update(keeps ? source : destination).update(keeps ? destination : source);
  hash.update(Buffer.from([protocol, 0]));
  if (WITH_PORTS.has(protocol)) hash.update(number16(sourcePort)).update(number16(destinationPort));
  return `1:${hash.digest("base64")}`;
}

function number16(value: number): Buffer {
  return Buffer.from([(value >> 8) & 0xff, value & 0xff]);
}

function pairs(list: readonly (readonly [number, number])[]): Map<number, number> {
  return new Map(
    list.flatMap(([a, b]): [number, number][] => [
      [a, b],
      [b, a],
    ]),
  ); // prettier-ignore
}
