/** Prints what a cluster needs: `npm run capacity -- --daily 10TB --retention 30d`; see `--help`. */

import { parseArgs } from "node:util";
import { AppError } from "#proto/kit/errors.ts";
import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";
import { DAY_MS, parseDuration } from "#proto/kit/units.ts";
import { type CapacityDemand, type CapacityPlan, type CapacityRates, planCapacity, RATES } from "./plan.ts";

const SIZE = /^(\d+(?:\.\d+)?)\s*(B|KB|MB|GB|TB|PB)?$/i;
/** Powers of 1,000, as disks are sold. */
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

const text = (fallback: string, about: string) => ({ type: "string", default: fallback, about }) as const;
const flag = (about: string) => ({ type: "boolean", default: false, about }) as const;

const OPTIONS = {
  daily: text("50GB", "lines that arrive a day"),
  retention: text("30d", "how long they are kept"),
  hubs: text("3", "hubs of a cluster"),
  cores: text("16", "processors of each hub"),
  disk: text("8TB", "disk of each hub"),
  "core-rate": text(shownSize(RATES.coreBytes), "lines per second that one processor makes searchable"),
  "disk-share": text(String(RATES.diskShare), "bytes on disk for each byte of lines"),
  compression: text(String(RATES.compression), "bytes of lines for each byte that an agent sends"),
  "stream-rate": text(shownSize(RATES.streamBytes), "what one stream of the log stores per second"),
  peak: text(String(RATES.peak), "rate of the busiest hour for each of the average"),
  json: flag("prints the plan as JSON"),
  help: flag("prints this"),
};

function help(): string {
  const rows = Object.entries(OPTIONS).map(([name, { default: usual, about }]) => {
    const shownUsual = usual === false ? "" : ` (${usual})`;
    return `  --${name.padEnd(12)} ${about}${shownUsual}`;
  });
  return `Prints what a cluster needs for an amount of lines, and which limit binds first.

Usage: npm run capacity -- [OPTION …]

Options, with their defaults:
${rows.join("\n")}

Sizes have a unit such as GB or TB, of powers of 1,000. docs/sizing.md says where the defaults come from.

Example: npm run capacity -- --daily 10TB --retention 30d --hubs 3 --cores 16 --disk 8TB
`;
}

function read(args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  return values;
}

interface Inputs {
  readonly demand: CapacityDemand;
  readonly rates: CapacityRates;
}

function inputsOf(values: ReturnType<typeof read>): Inputs {
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
  return { demand, rates };
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
  const power = powerOf(value);
  return `${(value / 1_000 ** power).toFixed(1)} ${UNITS[power]}${unit === "bytes/s" ? "/s" : ""}`;
}

/** A size as an option has it: `7.8MB`. */
function shownSize(bytes: number): string {
  return `${bytes / 1_000 ** powerOf(bytes)}${UNITS[powerOf(bytes)]}`;
}

function powerOf(bytes: number): number {
  return bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
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

ignoreClosedOutput();
try {
  const values = read(process.argv.slice(2));
  if (values.help) process.stdout.write(help());
  else {
    const { demand, rates } = inputsOf(values);
    const plan = planCapacity(demand, rates);
    process.stdout.write(
      values.json ? `${JSON.stringify({ demand, rates, ...plan })}\n` : print(demand, plan),
    );
  }
} catch (error) {
  process.stderr.write(`npm run capacity: ${(error as Error).message}; --help lists the options\n`);
  process.exitCode = 2;
}
