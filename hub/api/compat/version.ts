/** Which version a request is answered in: that of the settings, or the one its media types ask for. */

import type { IncomingHttpHeaders } from "node:http";

/** Major number of a version. */
export function majorOf(version: string): number {
  return Number(version.split(".")[0]);
}

/** Returns the version to answer in; `compatible-with=8` in Accept or Content-Type counts for this request. */
export function versionOf(
  { compatVersion }: { readonly compatVersion: string },
  { headers }: { readonly headers: IncomingHttpHeaders },
): string {
  const asked = /compatible-with=(\d{1,2})/.exec(`${headers.accept ?? ""};${headers["content-type"] ?? ""}`);
  return asked === null ? compatVersion : `${asked[1]}.0.0`;
}

/** Returns a version as 100 × major + minor: 605 of "6.5.4". */
export function versionNumber(version: string): number {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return 100 * major + minor;
}

/** Returns whether types are shown in mappings unless a request says otherwise. */
export function showsTypes(
  parts: { readonly compatVersion: string },
  request: { readonly headers: IncomingHttpHeaders },
): boolean {
  return majorOf(versionOf(parts, request)) < 7;
}
