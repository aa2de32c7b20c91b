/** Manual pages (man-pages(7)), generated from the programs' `--help`. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { installedPlaces, type Part, ROOT } from "./project.ts";

const PURPOSES: Readonly<Record<Part, string>> = {
  agent: "ships the log lines of a machine to a Tailrace hub",
  hub: "processes, indexes and serves logs",
};

/** Returns the page of a part, section 8, gzipped as dpkg wants it. Throws where the program prints nothing. */
export function manualPage(part: Part, version: string): Uint8Array {
  const { config, data } = installedPlaces(part);
  const { stdout, status, stderr } = spawnSync(process.execPath, [join(ROOT, part, "main.ts"), "--help"], {
    cwd: ROOT,
    encoding: "utf8",
    env: {
      ...process.env,
      [`TAILRACE_${part.toUpperCase()}_CONFIG`]: config,
      [`TAILRACE_${part.toUpperCase()}_DATA`]: data,
    },
  });
  if (status !== 0 || stdout === "") throw new Error(`tailrace-${part} --help failed: ${stderr}`);
  return gzipSync(manualText(part, version, stdout), { level: 9 });
}

/** Returns the page's source in roff. */
export function manualText(part: Part, version: string, help: string): string {
  const name = `tailrace-${part}`;
  const { config, data } = installedPlaces(part);
  return [
    `.TH ${name.toUpperCase()} 8 "" "Tailrace ${version}" "System administration"`,
    ".SH NAME",
    `${name} \\- ${PURPOSES[part]}`,
    ".SH DESCRIPTION",
    ".nf",
    ...help.trimEnd().split("\n").map(literal),
    ".fi",
    ".SH FILES",
    ".TP",
    `.I ${config}`,
    "settings",
    ".TP",
    `.I ${data}`,
    "state",
    ".SH SEE ALSO",
    `.BR tailrace-${part === "hub" ? "agent" : "hub"} (8)`,
    "",
  ].join("\n");
}

/** A line at whose start roff would see a request, and backslashes and minus signs, which mean something else in roff. */
function literal(line: string): string {
  return line
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");
}
