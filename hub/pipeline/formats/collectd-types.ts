/** Names of the values of collectd's types, as its file types.db has them. */

import { readFileSync } from "node:fs";

/** Names of the values of a type, by the type. */
export type CollectdTypes = ReadonlyMap<string, readonly string[]>;

/** Types with several values; the value of a type with one is "value". */
const SEVERAL = `
arc_counts demand_data demand_metadata prefetch_data prefetch_metadata
arc_l2_bytes read write
compression uncompressed compressed
df used free
disk_io_time io_time weighted_io_time
disk_latency read write
disk_merged read write
disk_octets read write
disk_ops read write
disk_time read write
dns_octets queries responses
if_dropped rx tx
if_errors rx tx
if_octets rx tx
if_packets rx tx
io_octets rx tx
io_ops read write
io_packets rx tx
load shortterm midterm longterm
memcached_octets rx tx
mysql_octets rx tx
node_octets rx tx
ps_count processes threads
ps_cputime user syst
ps_disk_octets read write
ps_disk_ops read write
ps_pagefaults minflt majflt
serial_octets rx tx
smart_attribute current worst threshold pretty
vmpage_faults minflt majflt
vmpage_io in out
`;

export const COLLECTD_TYPES: CollectdTypes = new Map(
  SEVERAL.trim()
    .split("\n")
    .map((line) => line.split(" "))
    .map(([type = "", ...names]) => [type, names] as const),
);

/** Returns the types of files in the form of types.db, each line a type and `name:KIND:min:max` for each value; later files win. Throws for one that can't be read. */
export function readTypesDb(paths: readonly string[]): CollectdTypes {
  const types = new Map<string, readonly string[]>();
  for (const path of paths) {
    for (const line of readFileSync(path, "utf8").split("\n")) {
      const [type = "", ...values] = line.trim().split(/[\s,]+/);
      if (type === "" || type.startsWith("#")) continue;
      types.set(
        type,
        values.map((value) => value.split(":")[0]!),
      );
    }
  }
  return types;
}
