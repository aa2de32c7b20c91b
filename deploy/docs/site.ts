/**
 * `npm run docs [-- DIR]`: makes a static site of README, ARCHITECTURE, CONTRIBUTING, SECURITY, CHANGELOG, `docs/`, the
 * READMEs of all folders and a page for each plugin, with a search over all. Links between files become links between
 * pages. A broken link is printed and exits with 1.
 */

import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { Marked } from "marked";
import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";
import manifest from "../../package.json" with { type: "json" };

const ROOT = resolve(import.meta.dirname, "../..");
const PAGES = [
  "README.md",
  "docs/**/*.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
];
const FOLDER_PAGES = "{agent,deploy,hub,proto,test,ui}/**/README.md";

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d5dbe1, #3a434d); --soft: light-dark(#f4f6f8, #1b2127); }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif; display: grid; grid-template-columns: 16rem minmax(0, 48rem); gap: 3rem; }
nav { padding: 1.5rem; border-right: 1px solid var(--line); background: var(--soft); min-height: 100vh; font-size: 0.9rem; }
nav ul { list-style: none; padding: 0; } main { padding: 1.5rem 1.5rem 4rem 0; }
header { display: flex; gap: 1rem; align-items: baseline; } header strong { font-size: 1.1rem; } search input { width: 100%; box-sizing: border-box; font: inherit; padding: 0.3rem; }
a { color: light-dark(#0b5cad, #7ab8ff); } [aria-current] { font-weight: 600; color: inherit; text-decoration: none; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: 0.8rem 1rem; overflow-x: auto; }
code { font: 0.9em ui-monospace, monospace; } img { max-width: 100%; }
table { border-collapse: collapse; display: block; overflow-x: auto; } th, td { border: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
@media (max-width: 50rem) { body { grid-template-columns: minmax(0, 1fr); gap: 0; } nav { min-height: 0; border: 0; } main { padding: 1.5rem; } }
`;

/** Runs in the browser: lists the sections that have all words of the query, those with a word in their title first. */
const SEARCH = `
const field = document.querySelector("search input"), list = document.querySelector("search ul");
const root = document.querySelector("search").dataset.root;
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const has = (text) => words.every((word) => text.includes(word));
  const found = words.length === 0 ? [] : PAGES.filter((page) => has(page.title.toLowerCase() + " " + page.text));
  found.sort((a, b) => has(b.title.toLowerCase()) - has(a.title.toLowerCase()));
  list.replaceChildren(...found.slice(0, 20).map(({ title, address }) => {
    const link = document.createElement("a");
    link.href = root + "/" + address;
    link.textContent = title;
    const row = document.createElement("li");
    row.append(link);
    return row;
  }));
});
`;

/** A page: its file in the project, its address in the site and its title. */
export interface Page {
  readonly file: string;
  readonly address: string;
  readonly title: string;
  readonly text: string;
}

/** Returns the project's pages, those for users first. */
export function findPages(): Page[] {
  const files = [...PAGES, FOLDER_PAGES].flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT, exclude: (path) => path.includes("node_modules") }).sort(),
  );
  return files.map((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    const title = /^# (.+)$/m.exec(text)?.[1] ?? file;
    return { file, address: addressOf(file), title: file === "README.md" ? "Tailrace" : title, text };
  });
}

/** Writes the site into `out`, which is emptied. Returns one sentence for each link that leads nowhere. */
export function buildSite(out: string): string[] {
  const found = findPages();
  const pages = [
    ...found,
    ...pluginPages(textOf(found, "docs/plugins.md"), textOf(found, "docs/plugin-examples.md")),
  ];
  const faults: string[] = [];
  rmSync(out, { recursive: true, force: true });
  for (const page of pages) {
    const body = toHtml(page, pages, faults);
    const target = join(out, page.address);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, wrap(page, pages, body));
  }
  writeFileSync(join(out, "search.js"), `const PAGES = ${JSON.stringify(searchEntries(pages))};\n${SEARCH}`);
  for (const picture of globSync("docs/*.{png,svg}", { cwd: ROOT }))
    cpSync(join(ROOT, picture), join(out, picture));
  return faults;
}

function textOf(pages: readonly Page[], file: string): string {
  return pages.find((page) => page.file === file)?.text ?? "";
}

function toHtml(page: Page, pages: readonly Page[], faults: string[]): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }): string {
        const inner = this.parser.parseInline(tokens);
        return `<h${depth} id="${escapeHtml(headingId(text))}">${inner}</h${depth}>\n`;
      },
    },
    walkTokens: (token) => {
      if (token.type !== "link" && token.type !== "image") return;
      const target = token as { href: string };
      target.href = resolveLink(page, target.href, pages, faults);
    },
  });
  return marked.parse(page.text, { async: false });
}

/** Files that are pages become their addresses; other files of the project must be there. */
function resolveLink(page: Page, href: string, pages: readonly Page[], faults: string[]): string {
  if (/^[a-z]+:|^#/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const file = posix.normalize(posix.join(posix.dirname(page.file), path));
  const linked = pages.find((each) => each.file === file || each.file === posix.join(file, "README.md"));
  if (linked === undefined) {
    if (!existsSync(join(ROOT, file))) faults.push(`${page.file} links to ${href}, which isn't there`);
    return href;
  }
  if (anchor !== undefined && !anchorsOf(linked.text).has(anchor))
    faults.push(`${page.file} links to ${href}, a section that isn't there`);
  const address = posix.relative(posix.dirname(page.address), linked.address);
  return anchor === undefined ? address : `${address}#${anchor}`;
}

function anchorsOf(text: string): Set<string> {
  return new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => headingId(heading)));
}

function wrap(page: Page, pages: readonly Page[], body: string): string {
  const row = ({ address, title, file }: Page): string => {
    const href = posix.relative(posix.dirname(page.address), address);
    return `<li><a href="${href}"${file === page.file ? ' aria-current="page"' : ""}>${escapeHtml(title)}</a></li>`;
  };
  const isOfFolder = ({ file }: Page): boolean => file.includes("/") && !file.startsWith("docs/");
  const isOfPlugin = ({ file }: Page): boolean => file.startsWith("docs/plugins/");
  const root = posix.relative(posix.dirname(page.address), ".") || ".";
  const list = (rows: readonly Page[]): string => `<ul>${rows.map(row).join("")}</ul>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(page.title)}</title><style>${STYLE}</style></head>
<body><nav aria-label="Pages"><header><strong>Tailrace</strong><span>${escapeHtml(manifest.version)}</span></header>
<search data-root="${root}"><input type="search" aria-label="Search the documents" placeholder="Search"><ul aria-live="polite"></ul></search>
${list(pages.filter((each) => !isOfFolder(each) && !isOfPlugin(each)))}<p>Folders</p>${list(pages.filter(isOfFolder))}<details${isOfPlugin(page) ? " open" : ""}><summary>Plugins</summary>${list(pages.filter(isOfPlugin))}</details></nav>
<main>${body}</main><script src="${root}/search.js"></script></body></html>
`;
}

function addressOf(file: string): string {
  return file === "README.md"
    ? "index.html"
    : file.replace(/README\.md$/, "index.html").replace(/\.md$/, ".html");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

if (import.meta.main) {
  ignoreClosedOutput();
  const out = resolve(process.argv[2] ?? "dist/docs");
  const faults = buildSite(out);
  for (const fault of faults) process.stderr.write(`docs: ${fault}\n`);
  process.stdout.write(`docs: ${join(out, "index.html")}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

interface Searched {
  readonly address: string;
  readonly title: string;
  readonly text: string;
}

/** Returns the id of a heading, as GitHub makes it for links to sections. */
function headingId(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]+/gu, "")
    .replaceAll(" ", "-");
}

/** Returns an entry for each section, its words in lower case. */
function searchEntries(pages: readonly Searched[]): Searched[] {
  return pages.flatMap(({ address, title, text }) =>
    text.split(/^(?=#{2,3} )/m).map((section) => {
      const heading = /^#{2,3} (.+)$/m.exec(section.startsWith("##") ? section : "")?.[1];
      const name = heading === undefined || heading === title ? title : `${title}: ${heading}`;
      return {
        address: heading === undefined ? address : `${address}#${headingId(heading)}`,
        title: name,
        text: section
          .toLowerCase()
          .replace(/[^\p{L}\p{N}_.-]+/gu, " ")
          .trim(),
      };
    }),
  );
}

interface PluginPage {
  readonly file: string;
  readonly address: string;
  readonly title: string;
  readonly text: string;
}

/** Returns the pages. Throws where a plugin has no example. */
function pluginPages(reference: string, examples: string): PluginPage[] {
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
