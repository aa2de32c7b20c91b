/** What a cluster needs for an amount of lines, and which limit binds first. Pure: the same inputs give the same plan. */

const DAY_S = 86_400;

/** Measured or assumed values; docs/sizing.md says where each comes from. */
export interface CapacityRates {
  /** Bytes of lines per second of one core, from file to searchable, all processes together. */
  readonly coreBytes: number;
  /** Bytes on the disk of a hub for each byte of lines. */
  readonly diskShare: number;
  /** Bytes of a line for each byte that an agent sends. */
  readonly compression: number;
  /** Bytes per second that one stream of the log stores, with three replicas. */
  readonly streamBytes: number;
  /** The busiest hour's rate for each of the average. */
  readonly peak: number;
  /** Share of a disk that may be used: above it the hub stops taking lines. */
  readonly diskUse: number;
}

export interface CapacityDemand {
  /** Bytes of lines a day. */
  readonly daily: number;
  readonly retentionDays: number;
  readonly hubs: number;
  /** Of each hub. */
  readonly cores: number;
  /** Of each hub, bytes. */
  readonly disk: number;
}

export interface CapacityRow {
  readonly name: "processors of each hub" | "disk of each hub" | "stream of the log";
  readonly needed: number;
  readonly available: number;
  readonly unit: "cores" | "bytes" | "bytes/s";
}

export interface CapacityPlan {
  readonly averageBytes: number;
  readonly peakBytes: number;
  /** 1, or 3 from three hubs on. */
  readonly natsServers: number;
  readonly rows: readonly CapacityRow[];
  /** The row that needs most of what there is. */
  readonly binding: CapacityRow;
  /** Bytes a day with which the binding limit is just met. */
  readonly largestDaily: number;
  /** Clusters of this size that are needed; each takes its share of the agents. */
  readonly clusters: number;
}

export const RATES: CapacityRates = {
  coreBytes: 39_000 * 200,
  diskShare: 0.3,
  compression: 6,
  streamBytes: 40e6,
  peak: 2.5,
  diskUse: 0.85,
};

/** Numbers must be above 0. */
export function planCapacity(demand: CapacityDemand, rates: CapacityRates): CapacityPlan {
  const { daily, hubs } = demand;
  const averageBytes = daily / DAY_S;
  const peakBytes = averageBytes * rates.peak;
  const rows = rowsOf(demand, rates, peakBytes);
  const largest = (row: CapacityRow): number =>
    row.unit === "cores"
      ? (daily * Math.max(0, row.available - 1)) / (row.needed - 1)
      : (daily * row.available) / row.needed;
  const binding = rows.reduce((least, row) => (largest(row) < largest(least) ? row : least));
  const largestDaily = largest(binding);
  return {
    averageBytes,
    peakBytes,
    natsServers: hubs >= 3 ? 3 : 1,
    rows,
    binding,
    largestDaily,
    clusters: Math.max(1, Math.ceil(daily / largestDaily)),
  };
}

function rowsOf(
  { daily, retentionDays, cores, disk }: CapacityDemand,
  rates: CapacityRates,
  peakBytes: number,
): CapacityRow[] {
  return [
    // Every hub has a copy of every shard, so each indexes everything; the front thread needs one core.
    {
      name: "processors of each hub",
      needed: peakBytes / rates.coreBytes + 1,
      available: cores,
      unit: "cores",
    },
    {
      name: "disk of each hub",
      needed: daily * retentionDays * rates.diskShare,
      available: disk * rates.diskUse,
      unit: "bytes",
    },
    {
      name: "stream of the log",
      needed: peakBytes / rates.compression,
      available: rates.streamBytes,
      unit: "bytes/s",
    },
  ];
}
