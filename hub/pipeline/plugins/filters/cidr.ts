/** Filter cidr: decorates events that have an address in one of some networks. */

import { readFileSync } from "node:fs";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { type Event, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import { AddressSet, isNetwork } from "#proto/kit/net/address-set.ts";
import { list, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { refreshed } from "./refreshed-file.ts";

/** Compiled networks that came from fields, at most. */
const CACHE_LIMIT = 1000;

export const cidrFilter = defineFilter({
  name: "cidr",
  description: "decorates events whose address is in one of the given networks",
  options: options({
    address: list("addresses, as formats"),
    address_field: optional(text("field with an address or a list of addresses")),
    network: list(
      "networks (192.0.2.0/24, 2001:db8::/32), as formats that may give several, comma-separated",
    ),
    network_path: optional(text("file with the networks, instead of network")),
    refresh_interval: Type.Number({
      default: 600,
      minimum: 0,
      description: "interval at which the file is read again, s; 0: never",
    }),
    separator: text("separator of the networks in the file", "\n"),
  }),
  create(values, context) {
    if (values.network_path !== undefined && values.network.length > 0)
      context.report(
        "error",
        "network_path",
        "network and network_path exclude each other",
        "keep one of them",
      );
    if (values.address_field !== undefined && values.address.length > 0)
      context.report(
        "error",
        "address_field",
        "address and address_field exclude each other",
        "keep one of them",
      );
    const addresses = values.address.map(compileFormat);
    const field = values.address_field === undefined ? undefined : fieldReference(values.address_field);
    const networks = networkLists(values, context);
    return {
      apply(event) {
        const inField = field === undefined ? [] : [event.get(field)].flat().map(valueText);
        const all = [...addresses.map((format) => format(event)), ...inField];
        const lists = networks(event);
        return all.some((address) => lists.some((each) => each.has(address.trim())));
      },
    };
  },
});

interface NetworkOptions {
  readonly network: readonly string[];
  readonly network_path?: string;
  readonly refresh_interval: number;
  readonly separator: string;
}

function networkLists(
  values: NetworkOptions,
  { clock, resolvePath, report }: FilterContext,
): (event: Event) => AddressSet[] {
  if (values.network_path !== undefined) {
    const path = resolvePath(values.network_path);
    return refreshed(clock, values.refresh_interval, () => [
      addressSet(readFileSync(path, "utf8").split(values.separator)),
    ]);
  }
  const formats = values.network.map(compileFormat);
  const constant = values.network.filter((_, index) => formats[index]!.isConstant);
  for (const network of constant.flatMap((each) => each.split(","))) {
    if (!isNetwork(network.trim()))
      report("error", "network", `"${network}" isn't a network`, "write 192.0.2.0/24 or 2001:db8::/32");
  }
  const fixed = addressSet(constant);
  const changing = formats.filter((format) => !format.isConstant);
  const cache = new Map<string, AddressSet>();
  return (event) => [fixed, ...changing.map((format) => cached(cache, format(event)))];
}

function cached(cache: Map<string, AddressSet>, network: string): AddressSet {
  let found = cache.get(network);
  if (found === undefined) {
    found = addressSet([network]);
    if (cache.size >= CACHE_LIMIT) cache.clear();
    cache.set(network, found);
  }
  return found;
}

/** Returns the networks compiled; texts that aren't a network are left out. */
function addressSet(networks: readonly string[]): AddressSet {
  return new AddressSet(networks.flatMap((list) => list.split(",")).map((network) => network.trim()));
}
