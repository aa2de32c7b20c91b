/** Durations and sizes: their constants, and how settings write them. */

import { AppError } from "./errors.ts";

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const KIB = 1_024;
export const MIB = 1_024 * KIB;

const DURATION_MS: Readonly<Record<string, number>> = {
  nanos: 1e-6,
  micros: 1e-3,
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
};

const SIZE_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1024,
  kib: 1024,
  mb: 1024 ** 2,
  mib: 1024 ** 2,
  gb: 1024 ** 3,
  gib: 1024 ** 3,
  tb: 1024 ** 4,
};

/** Returns milliseconds for "5s", "1.5h", "200ms", "2m30s"; a bare number counts `bareUnitMs`. Throws settings_invalid. */
export function parseDuration(text: string | number, bareUnitMs = 1_000): number {
  if (typeof text === "number") return text * bareUnitMs;
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed) * bareUnitMs;
  let total = 0;
  const rest = trimmed.replace(
    /(\d+(?:\.\d+)?)\s*(nanos|micros|ms|s|m|h|d)/g,
    (_, amount: string, unit: string) => {
      total += Number(amount) * (DURATION_MS[unit] ?? 0);
      return "";
    },
  );
  if (trimmed === "" || rest.trim() !== "") {
    throw new AppError(
      "settings_invalid",
      `"${text}" isn't a duration; write for example 200ms, 5s, 10m or 24h`,
    );
  }
  return total;
}

/** Returns bytes for "10mb", "1.5 GiB", "4096"; kilobyte and so on count 1024. Throws settings_invalid. */
export function parseSize(text: string | number): number {
  if (typeof text === "number") return text;
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  const unit = match?.[2]?.toLowerCase() || "b";
  const factor = SIZE_BYTES[unit] ?? SIZE_BYTES[`${unit}b`];
  if (match?.[1] === undefined || factor === undefined) {
    throw new AppError("settings_invalid", `"${text}" isn't a size; write for example 512kb, 10mb or 2gb`);
  }
  return Math.round(Number(match[1]) * factor);
}
