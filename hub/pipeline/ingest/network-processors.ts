/** Processors of network addresses: `community_id`, `network_direction` and `registered_domain`. */

import { isIP, isIPv4 } from "node:net";
import { communityId, type Flow, hasPorts, ICMP, ICMP6 } from "#hub/pipeline/formats/community-id.ts";
import { splitDomain } from "#hub/pipeline/formats/public-suffixes.ts";
import { Decimal } from "#hub/scripts/values/values.ts";
import { valueText } from "#proto/event.ts";
import { AddressSet } from "#proto/kit/net/address-set.ts";
import { type IngestDocument, ProcessorFault } from "./ingest-document.ts";
import { type ProcessorKind, type ProcessorSettings, readText } from "./processor.ts";
import { compileTemplate } from "./template.ts";

const PROTOCOLS: Readonly<Record<string, number>> = {
  icmp: ICMP,
  igmp: 2,
  tcp: 6,
  udp: 17,
  gre: 47,
  "ipv6-icmp": ICMP6,
  icmp6: ICMP6,
  "icmp-ipv6": ICMP6,
  eigrp: 88,
  ospf: 89,
  pim: 103,
  sctp: 132,
};

const MAX_PORT = 65_535;

export const communityIdProcessor: ProcessorKind = (settings) => {
  const fields = readFlowFields(settings);
  const target = settings.text("target_field", "network.community_id");
  const seed = Number(settings.take("seed") ?? 0);
  if (!(Number.isInteger(seed) && seed >= 0 && seed <= MAX_PORT))
    throw settings.fault("seed", `must be a value between 0 and ${MAX_PORT}`);
  const ignoreMissing = settings.flag("ignore_missing", true);
  return (document) => {
    const flow = flowOf(document, fields, ignoreMissing);
    if (flow !== undefined) document.set(target, communityId(flow, seed));
    else if (!ignoreMissing) throw new ProcessorFault("unable to construct flow from document");
  };
};

type FlowFields = ReturnType<typeof readFlowFields>;

/** Returns the names of the fields that hold the parts of a connection. */
function readFlowFields(settings: ProcessorSettings) {
  return {
    sourceIp: settings.text("source_ip", "source.ip"),
    sourcePort: settings.text("source_port", "source.port"),
    destinationIp: settings.text("destination_ip", "destination.ip"),
    destinationPort: settings.text("destination_port", "destination.port"),
    number: settings.text("iana_number", "network.iana_number"),
    transport: settings.text("transport", "network.transport"),
    icmpType: settings.text("icmp_type", "icmp.type"),
    icmpCode: settings.text("icmp_code", "icmp.code"),
  };
}

/** Returns the connection that a document names; undefined where an address or the protocol is missing. */
function flowOf(document: IngestDocument, fields: FlowFields, ignoreMissing: boolean): Flow | undefined {
  const source = readText(document, addressOf(fields.sourceIp, ignoreMissing));
  const destination = readText(document, addressOf(fields.destinationIp, ignoreMissing));
  const named = document.get(fields.number) ?? document.get(fields.transport);
  if (source === undefined || destination === undefined || named === undefined || named === null)
    return undefined;
  const protocol = protocolOf(named);
  const [sourcePort, destinationPort] = portsOf(document, fields, protocol);
  return {
    source: addressBytes(source),
    destination: addressBytes(destination),
    protocol,
    sourcePort,
    destinationPort,
  };
}

/** ICMP has a type and a code instead of ports. */
function portsOf(document: IngestDocument, fields: FlowFields, protocol: number): [number, number] {
  if (hasPorts(protocol))
    return [
      portOf(document, fields.sourcePort, "source port"),
      portOf(document, fields.destinationPort, "destination port"),
    ];
  return [wholeOf(document, fields.icmpType, "icmp type"), wholeOf(document, fields.icmpCode, "icmp code")];
}

function addressOf(
  field: string,
  ignoreMissing: boolean,
): { field: string; target: string; ignoreMissing: boolean } {
  return { field, target: field, ignoreMissing };
}

function protocolOf(value: unknown): number {
  const text = wholeText(value).toLowerCase();
  const number = PROTOCOLS[text] ?? (/^\d{1,3}$/.test(text) ? Number(text) : undefined);
  if (number === undefined || number > 255)
    throw new ProcessorFault(`could not convert string [${text}] to transport protocol`);
  return number;
}

/** Returns a value's text, a number's without its fraction. */
function wholeText(value: unknown): string {
  const number = value instanceof Decimal ? value.value : value;
  return typeof number === "number" ? String(Math.trunc(number)) : valueText(value);
}

/** Missing numbers are 0. */
function wholeOf(document: IngestDocument, field: string, name: string): number {
  const value = document.get(field);
  if (value === undefined || value === null) return 0;
  const text = wholeText(value);
  if (!/^-?\d{1,9}$/.test(text)) throw new ProcessorFault(`unable to parse ${name} [${text}]`);
  return Number(text);
}

function portOf(document: IngestDocument, field: string, name: string): number {
  const port = wholeOf(document, field, name);
  if (port < 1 || port > MAX_PORT) throw new ProcessorFault(`invalid ${name} [${port}]`);
  return port;
}

function addressBytes(text: string): Uint8Array {
  if (isIP(text) === 0) throw new ProcessorFault(`'${text}' is not an IP string literal.`);
  if (isIPv4(text)) return Uint8Array.from(text.split("."), Number);
  // The URL parser writes an address of version 6 without a part of version 4.
  const plain = new URL(`http://[${text.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [first, last] = [groups(head), tail === undefined ? [] : groups(tail)];
  const all = [...first, ...new Array<string>(8 - first.length - last.length).fill("0"), ...last];
  return Uint8Array.from(
    all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  );
}

/** Networks by name. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  link_local_unicast: ["169.254.0.0/16", "fe80::/10"],
  interface_local_multicast: ["ff01::/16"],
  link_local_multicast: ["224.0.0.0/24", "ff02::/16"],
  multicast: ["224.0.0.0/4", "ff00::/8"],
  unspecified: ["0.0.0.0/32", "::/128"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fd00::/8"],
};
const BROADCAST = "255.255.255.255/32";
/** What isn't in these networks is in the one of the name. */
const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  unicast: ["unspecified", "loopback", "multicast", "link_local_unicast"],
  global_unicast: ["unspecified", "loopback", "multicast", "link_local_unicast"],
  public: [
    "private",
    "loopback",
    "unspecified",
    "link_local_unicast",
    "link_local_multicast",
    "interface_local_multicast",
  ],
};

/** Networks that texts of documents named; there are few. */
const MAX_NETWORKS = 1_000;

export const networkDirection: ProcessorKind = (settings) => {
  const source = settings.text("source_ip", "source.ip");
  const destination = settings.text("destination_ip", "destination.ip");
  const target = settings.text("target_field", "network.direction");
  const ignoreMissing = settings.flag("ignore_missing", true);
  const networksOf = internalNetworks(settings, ignoreMissing);
  const contains = networkTest();
  return (document) => {
    const networks = networksOf(document);
    const from = readText(document, addressOf(source, ignoreMissing));
    const to = readText(document, addressOf(destination, ignoreMissing));
    if (networks === undefined || from === undefined || to === undefined) {
      if (ignoreMissing) return;
      throw new ProcessorFault("unable to calculate network direction from document");
    }
    const [isFrom, isTo] = [from, to].map((address) =>
      networks.some((network) => contains(network, address)),
    );
    document.set(target, isFrom ? (isTo ? "internal" : "outbound") : isTo ? "inbound" : "external");
  };
};

function internalNetworks(
  settings: ProcessorSettings,
  ignoreMissing: boolean,
): (document: IngestDocument) => readonly string[] | undefined {
  const field = settings.optionalText("internal_networks_field");
  const given = settings.take("internal_networks");
  if (given === undefined && field === undefined)
    throw settings.fault("internal_networks", "or [internal_networks_field] must be specified");
  if (given !== undefined && field !== undefined)
    throw settings.fault(
      "internal_networks",
      "and [internal_networks_field] cannot both be used in the same processor",
    );
  if (field === undefined) {
    const list: readonly unknown[] = Array.isArray(given) ? given : [given];
    if (!list.every((each) => typeof each === "string"))
      throw settings.fault("internal_networks", "property isn't a list of strings");
    const templates = list.map((each) => compileTemplate(each));
    return (document) => templates.map((template) => template(document));
  }
  return (document) => {
    const value = document.get(field);
    if (Array.isArray(value)) return value.map(valueText);
    if (value === undefined || value === null) {
      if (ignoreMissing) return undefined;
      throw new ProcessorFault(`field [${field}] not present as part of path [${field}]`);
    }
    return [valueText(value)];
  };
}

/** Returns a test of whether a network, by name or as address/bits, holds an address. Throws ProcessorFault. */
function networkTest(): (network: string, address: string) => boolean {
  const lists = new Map<string, AddressSet>();
  const listOf = (name: string): AddressSet => {
    const known = lists.get(name);
    if (known !== undefined) return known;
    const names = OUTSIDE[name];
    const ranges =
      names === undefined ? (NAMED[name] ?? [name]) : [...names.flatMap((each) => NAMED[each]!), BROADCAST];
    const list = new AddressSet();
    for (const range of ranges) addRange(list, range);
    if (lists.size < MAX_NETWORKS) lists.set(name, list);
    return list;
  };
  return (network, address) => {
    if (isIP(address) === 0) throw new ProcessorFault(`'${address}' is not an IP string literal.`);
    return listOf(network).has(address) !== Object.hasOwn(OUTSIDE, network);
  };
}

/** A single address is none of these networks. */
function addRange(list: AddressSet, range: string): void {
  if (range.includes("/") && list.add(range)) return;
  throw new ProcessorFault(
    `[${range}] isn't a network: expected an address, "/" and a number of bits, or a name such as private`,
  );
}

export const registeredDomain: ProcessorKind = (settings) => {
  const field = settings.text("field");
  const target = settings.text("target_field", "");
  const ignoreMissing = settings.flag("ignore_missing", true);
  const prefix = target === "" ? "" : `${target}.`;
  return (document) => {
    const domain = readText(document, addressOf(field, ignoreMissing));
    const parts = domain === undefined ? undefined : splitDomain(domain);
    if (parts === undefined) {
      if (ignoreMissing) return;
      throw new ProcessorFault("unable to set domain information for document");
    }
    document.set(`${prefix}domain`, domain);
    if (parts.registered !== undefined) document.set(`${prefix}registered_domain`, parts.registered);
    document.set(`${prefix}top_level_domain`, parts.suffix);
    if (parts.subdomain !== undefined) document.set(`${prefix}subdomain`, parts.subdomain);
  };
};

export const NETWORK_PROCESSORS: Readonly<Record<string, ProcessorKind>> = {
  community_id: communityIdProcessor,
  network_direction: networkDirection,
  registered_domain: registeredDomain,
};
