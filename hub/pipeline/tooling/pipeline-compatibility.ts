/** Rows of `docs/compatibility.md`: options of plugins that have no effect or are refused, as their schemas say. */

import type { TObject } from "typebox";
import type { CompatibilityRow } from "#proto/kit/compatibility-row.ts";
import { treatmentOf } from "#proto/kit/options.ts";
import { pluginKinds } from "./plugin-reference.ts";

/** Returns the rows of all plugins; options that all plugins of a kind have stand once. */
export async function pipelineCompatibility(): Promise<CompatibilityRow[]> {
  const kinds = await pluginKinds();
  return kinds.flatMap(({ kind, plugins, common }) => [
    ...rowsOf(`every ${kind}`, common, []),
    ...plugins.flatMap(({ name, options }) =>
      rowsOf(`${kind} \`${name}\``, options, Object.keys(common.properties)),
    ),
  ]);
}

function rowsOf(where: string, options: TObject, except: readonly string[]): CompatibilityRow[] {
  return Object.entries(options.properties).flatMap(([name, schema]) => {
    const treated = treatmentOf(schema);
    return treated === undefined || except.includes(name) ? [] : [{ where, name, ...treated }];
  });
}
