/** The bill of materials that goes with a package or an image: CycloneDX 1.6 as JSON, the same bytes for the same sources. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Part, ROOT } from "./project.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Returns the bill of `part`, which holds the packages in `folders` ("node_modules/pino") and a Node. */
export function billOfMaterials(
  part: Part,
  version: string,
  folders: readonly string[],
  nodeVersion: string,
): string {
  const packages = folders.map((folder) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as Manifest;
    return component(
      "library",
      manifest,
      `pkg:npm/${manifest.name.replace(/^@/, "%40")}@${manifest.version}`,
    );
  });
  const node = { name: "node", version: nodeVersion, license: "MIT" };
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: component("application", { name: `tailrace-${part}`, version, license: "Apache-2.0" }),
    },
    components: [component("platform", node, `pkg:generic/node@${nodeVersion}`), ...packages],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** Licences are expressions of SPDX, as npm has them. */
function component(type: string, { name, version, license }: Manifest, purl?: string): object {
  return {
    type,
    name,
    version,
    ...(purl !== undefined && { purl, "bom-ref": purl }),
    ...(license !== undefined && { licenses: [{ expression: license }] }),
  };
}
