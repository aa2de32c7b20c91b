/** Addresses of settings that are shown in logs, on pages and by commands: they name a place and nothing else. */

import type { Static } from "typebox";
import { AppError } from "#proto/kit/errors.ts";
import { type Entries, placesOf } from "#proto/kit/settings/settings.ts";
import type { SETTINGS_SCHEMA } from "./schema.ts";

/** Settings that hold addresses, and where their credentials go. */
const CREDENTIALS = {
  "output.pipeline.servers": "output.pipeline.username and output.pipeline.token",
  "output.search.hosts": "output.search.username and output.search.password",
  "setup.dashboard.host": "setup.dashboard.username and setup.dashboard.password, or setup.dashboard.api_key",
} as const;

type Key = keyof typeof CREDENTIALS;

/** What a connection to NATS is made by; without a scheme it is nats://. */
const NATS_SCHEMES = ["nats", "tls"];

/** Throws settings_invalid, with the place, for an address with credentials and for one of NATS with another scheme. */
export function checkAddresses(file: Static<typeof SETTINGS_SCHEMA>, entries: Entries): void {
  for (const key of Object.keys(CREDENTIALS) as Key[]) {
    for (const [index, address] of addressesOf(file[key]).entries()) {
      const fault = faultOf(key, address);
      if (fault === undefined) continue;
      const entry = entries.get(key);
      const place =
        entry === undefined ? key : placesOf(entry)(Array.isArray(entry.value) ? [String(index)] : []);
      throw new AppError("settings_invalid", `${place}: ${key}: ${fault}`);
    }
  }
}

function addressesOf(value: string | readonly string[] | undefined): readonly string[] {
  return typeof value === "string" ? [value] : (value ?? []);
}

/** The address itself isn't told: it may hold a password. */
function faultOf(key: Key, address: string): string | undefined {
  if (address.includes("@"))
    return `an address names a user or password, which would be shown wherever the address is; put them into ${CREDENTIALS[key]}`;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (key !== "output.pipeline.servers" || scheme === undefined || NATS_SCHEMES.includes(scheme))
    return undefined;
  return `"${address}" is no address of NATS; write nats://host:4222 or tls://host:4222`;
}
