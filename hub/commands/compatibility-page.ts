/** `tailrace-hub --print-compatibility`: prints a page of what is accepted without effect and what is refused by name. */

import { apiCompatibility } from "#hub/api/compat/interface-compatibility.ts";
import { hubCompatibility } from "#hub/node/settings/unused-settings.ts";
import { searchCompatibility } from "#hub/search/search-compatibility.ts";
import { type CompatibilityRow, compatibilityTable } from "#proto/kit/compatibility-row.ts";

/** Returns the rows of one part. */
type Source = () => readonly CompatibilityRow[] | Promise<readonly CompatibilityRow[]>;

/** Every part that accepts or refuses something by name has one function here. */
const SOURCES: readonly Source[] = [
  hubCompatibility,
  apiCompatibility,
  searchCompatibility,
  async () => (await import("#hub/pipeline/tooling/plugin-reference.ts")).pipelineCompatibility(),
];

const INTRODUCTION = `# Compatibility

Tailrace runs existing pipeline files and answers clients of a 6.5 search engine. This page lists what differs by name:

- **no effect**: the option is accepted and changes nothing. \`pipeline check\` warns of it; answers of the search
  interface carry a \`Warning\` header where they could be expected to differ.
- **hint**: the option says how another engine is to compute an answer. It is checked and not used, without a warning.
  The answer is the same, except for what the note says.
- **refused**: the request or file is refused with an error that names the option or plugin.

Everything else that is accepted works. Unknown names are errors.

\`tailrace-hub --print-compatibility > docs/compatibility.md\` writes this page.
`;

/** Returns the page as Markdown. */
export async function compatibilityPage(): Promise<string> {
  const rows = await Promise.all(SOURCES.map(async (source) => source()));
  return `${INTRODUCTION}\n${compatibilityTable(rows.flat())}\n`;
}
