/**
 * Prints what a cluster needs: `npm run capacity -- --daily 10TB --retention 30d [--hubs 3] [--cores 16] [--disk 8TB]
 * [--core-rate 7.8MB] [--disk-share 0.3] [--compression 6] [--stream-rate 40MB] [--peak 2.5] [--json]`.
 */

import { parseArgs } from "node:util";
import { AppError } from "#proto/kit/errors.ts";
import { DAY_MS, parseDuration } from "#proto/kit/units.ts";
import { type CapacityDemand, type CapacityPlan, type CapacityRates, planCapacity, RATES } from "./plan.ts";

const SIZE = /^(\d+(?:\.\d+)?)\s*(B|KB|MB|GB|TB|PB)?$/i;
/** Powers of 1,000, as disks are sold. */
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

const text = (fallback: string) => ({ type: "string", default: fallback }) as const;

function read(args: readonly string[]): { demand: CapacityDemand; rates: CapacityRates; json: boolean } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      daily: text("50GB"),
      retention: text("30d"),
      hubs: text("3"),
      cores: text("16"),
      disk: text("8TB"),
      "core-rate": text(`${RATES.coreBytes}B`),
      "disk-share": text(String(RATES.diskShare)),
      compression: text(String(RATES.compression)),
      "stream-rate": text(`${RATES.streamBytes}B`),
      peak: text(String(RATES.peak)),
      json: { type: "boolean", default: false },
    },
  });
  const demand = {
    daily: size("daily", values.daily),
    retentionDays: parseDuration(values.retention) / DAY_MS,
    hubs: number("hubs", values.hubs),
    cores: number("cores", values.cores),
    disk: size("disk", values.disk),
  };
  const rates = {
    ...RATES,
    coreBytes: size("core-rate", values["core-rate"]),
    diskShare: number("disk-share", values["disk-share"]),
    compression: number("compression", values.compression),
    streamBytes: size("stream-rate", values["stream-rate"]),
    peak: number("peak", values.peak),
  };
  if (!(demand.retentionDays > 0))
    throw new AppError("usage_invalid", "--retention must be above 0, such as 30d");
  return { demand, rates, json: values.json };
}

function size(name: string, value: string): number {
  const [, digits, unit = "B"] = SIZE.exec(value) ?? [];
  const bytes = Number(digits) * 1_000 ** UNITS.indexOf(unit.toUpperCase());
  if (bytes > 0) return bytes;
  throw new AppError("usage_invalid", `--${name} ${value}: a size above 0 is needed, such as 10TB`);
}

function number(name: string, value: string): number {
  if (Number(value) > 0 && Number.isFinite(Number(value))) return Number(value);
  throw new AppError("usage_invalid", `--${name} ${value}: a number above 0 is needed`);
}

function shown(value: number, unit: string): string {
  if (unit === "cores") return `${value.toFixed(1)} cores`;
  const power = value < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3));
  return `${(value / 1_000 ** power).toFixed(1)} ${UNITS[power]}${unit === "bytes/s" ? "/s" : ""}`;
}

function print({ hubs }: CapacityDemand, plan: CapacityPlan): string {
  const { averageBytes, peakBytes, rows, binding, largestDaily, clusters, natsServers } = plan;
  return [
    `lines: ${shown(averageBytes, "bytes/s")} on average, ${shown(peakBytes, "bytes/s")} at the peak`,
    ...rows.map(
      ({ name, needed, available, unit }) =>
        `${name}: ${shown(needed, unit)} of ${shown(available, unit)} (${((needed / available) * 100).toFixed(0)} %)`,
    ),
    `what binds first: ${binding.name}; one cluster of ${hubs} takes ${shown(largestDaily, "bytes")} a day`,
    `needed: ${clusters} cluster${clusters === 1 ? "" : "s"} of ${hubs} hubs and ${natsServers} nats-server${natsServers === 1 ? "" : "s"}`,
    "",
  ].join("\n");
}

try {
  const { demand, rates, json } = read(process.argv.slice(2));
  const plan = planCapacity(demand, rates);
  process.stdout.write(json ? `${JSON.stringify({ demand, rates, ...plan })}\n` : print(demand, plan));
} catch (error) {
  process.stderr.write(`npm run capacity: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
