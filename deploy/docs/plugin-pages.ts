/** A page for each plugin: what the reference says of it, and its example. */

interface PluginPage {
  readonly file: string;
  readonly address: string;
  readonly title: string;
  readonly text: string;
}

/** Returns the pages. Throws where a plugin has no example. */
export function pluginPages(reference: string, examples: string): PluginPage[] {
  const exampleOf = new Map(
    examples
      .split(/^## /m)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n"))]),
  );
  return reference
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const kind = section.slice(0, section.indexOf("\n") - 1).toLowerCase();
      const [shared = "", ...plugins] = section.split(/^### /m);
      return plugins.map((plugin) => {
        const name = plugin.slice(0, plugin.indexOf("\n"));
        const title = `${kind} ${name}`;
        const example = exampleOf.get(title);
        if (example === undefined) throw new Error(`${title} has no example in docs/plugin-examples.md`);
        const options = plugin.slice(plugin.indexOf("\n"));
        const common = shared.slice(shared.indexOf("\n")).trim();
        return {
          file: `docs/plugins/${kind}-${name}.md`,
          address: `docs/plugins/${kind}-${name}.html`,
          title,
          text: `# ${title}\n${options.trimEnd()}\n\n## Example\n${example.trimEnd()}\n\n## Options of each ${kind}\n\n${common}\n`,
        };
      });
    });
}
