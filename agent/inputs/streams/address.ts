/** "host:port" of inputs that listen. */

import { AppError } from "#proto/kit/errors.ts";
import { Type } from "#proto/kit/schema.ts";

/** The setting `host`. */
export function addressSetting() {
  return Type.String({ description: "host:port to listen on; [::]:port for IPv6." });
}

/** Returns the parts of "host:port". Throws settings_invalid. */
export function parseAddress(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new AppError(
      "settings_invalid",
      `host: "${text}" is no address; write host:port, for example 127.0.0.1:9000`,
    );
  }
  return { host: match[1] ?? match[2]!, port };
}
