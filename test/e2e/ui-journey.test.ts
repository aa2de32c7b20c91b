/** A working day with the dashboard, over a real hub and agent: from an error line to a shared dashboard, and what runs it all. */

import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { becomes, becomesTrue } from "#test/harness/becomes.ts";
import { enrolAgent } from "#test/harness/enrolled-agent.ts";
import { openShop, type Shop } from "#test/harness/shop.ts";
import { Workspace } from "#test/harness/workspace.ts";

const workspace = new Workspace();
let shop: Shop;

before(async () => {
  shop = await openShop(workspace, 400);
});

after(() => workspace.close());

interface Screen {
  readonly width: number;
  readonly height: number;
  readonly theme: "light" | "dark";
}

const SCREENS: readonly Screen[] = [
  { width: 1440, height: 900, theme: "light" },
  { width: 1440, height: 900, theme: "dark" },
  { width: 390, height: 844, theme: "light" },
  { width: 390, height: 844, theme: "dark" },
];

/** Opens a page of a fresh browser; each word of complaint ends in `complaints`. */
async function open(
  { width, height, theme }: Screen,
  complaints: string[],
): Promise<{ context: BrowserContext; page: Page }> {
  const context = await shop.browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The browser's word on the pipeline that is broken on purpose.
    const isRefusal = /\/api\/pipelines\//.test(message.location().url) && /400/.test(message.text());
    if (message.type() === "error" && !isRefusal)
      complaints.push(`${message.text()} ${message.location().url}`);
  });
  return { context, page };
}

/** Goes to a page of the dashboard by its address. */
async function goto(page: Page, path: string): Promise<void> {
  await page.goto(`${shop.hub.dashboardUrl}/#/${path}`);
  await page.locator(`tr-page-${path.split("?", 1)[0]}`).waitFor();
}

/** Finds a failed payment and the lines of the same host around it. */
async function findError(page: Page): Promise<void> {
  await goto(page, "discover?from=now-2h");
  await page.getByRole("combobox", { name: /query/i }).fill("log.level:error AND service:payment");
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=log\.level/);
  const rows = page.locator("tr-event-table .row:visible");
  await becomesTrue(
    "the failed payments alone",
    () => rows.allTextContents(),
    (texts) => texts.length > 0 && texts.every((text) => text.includes("not paid")),
  );
  await rows.first().getByRole("button").first().click();
  const details = page.locator("tr-event-details");
  await details
    .getByText(/upstream timed out/)
    .first()
    .waitFor();
  await details.getByRole("link", { name: "Open in Discover" }).click();
  await page.waitForURL(/f=log\.file\.path/);
  await page
    .locator("tr-event-table .row")
    .getByText(/^(?!.*not paid)/)
    .first()
    .waitFor();
  await page.goBack();
  await page.waitForURL(/q=log\.level/);
}

/** Makes a bar chart of the errors by service, saves it and puts it on a new dashboard; returns its address. */
async function shareChart(page: Page, name: string): Promise<string> {
  await page.locator("tr-discover-tools").getByRole("link", { name: "Visualise" }).click();
  await page.waitForURL(/#\/visualise\?.*q=/);
  await page.getByRole("button", { name: "Bars", exact: true }).click();
  await page.getByLabel("Group by", { exact: true }).selectOption("terms");
  await page.getByLabel("Field", { exact: true }).fill("client.geo.city_name");
  await page.keyboard.press("Enter");
  await page.locator("tr-chart text").getByText("Berlin").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByLabel("Title").fill(`Errors ${name}`);
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: `Errors ${name}` }).waitFor();
  await goto(page, "dashboards");
  await page.getByRole("button", { name: "New dashboard" }).click();
  await page.getByLabel("Title").fill(`Payments ${name}`);
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByLabel("Add a panel").selectOption({ label: `Errors ${name}` });
  await page.getByRole("button", { name: "Save dashboard" }).click();
  await page.getByRole("button", { name: "Save dashboard" }).waitFor({ state: "detached" });
  return page.url();
}

/** Watches for a line, which is then written into the file the agent reads. */
async function watchLive(page: Page, word: string): Promise<void> {
  await goto(page, `live?q=service:${word}`);
  await page.getByText("Following", { exact: true }).waitFor();
  const line = {
    "@timestamp": new Date().toISOString(),
    level: "warn",
    service: word,
    message: `${word} is here`,
  };
  appendFileSync(shop.servicesFile, `${JSON.stringify(line)}\n`);
  await page.locator("tr-tail-window .row").getByText(`${word} is here`).waitFor();
}

/** Connects another server by the line that the page gives, sees it among the agents, and what of its file has come. */
async function connectServer(page: Page, name: string): Promise<void> {
  await goto(page, "enrolment");
  await page.getByRole("button", { name: "Create command" }).click();
  const line = await page.getByRole("region", { name: "Shown once" }).locator("code").first().textContent();
  const log = workspace.path(name, "app.log");
  writeFileSync(log, `${name} has begun\n`);
  const agent = enrolAgent(line!, { folder: workspace.path(name, "agent"), name, paths: [log] });
  workspace.defer(() => agent.end("SIGTERM"));
  await agent.ready();
  await goto(page, "agents");
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  const file = page.getByRole("region", { name: "Files" }).getByRole("row", { name: log });
  await file.getByRole("cell", { name: "committed" }).waitFor();
}

/** Breaks a pipeline, reads why, mends it, and sees what each filter makes of a line. */
async function mendPipeline(page: Page): Promise<void> {
  await goto(page, "pipelines?new=1");
  const text = page.getByRole("textbox", { name: "Pipeline", exact: true });
  const right = await page
    .locator("tr-code-editor")
    .evaluate<string, { value: string }>((editor) => editor.value);
  await text.fill(right.replace("grok {", "grokk {"));
  await page.locator("tr-pipeline-editor pre").getByText("grokk").first().waitFor();
  await text.fill(right);
  await page.getByText("The pipeline is valid.").waitFor();
  await page
    .getByLabel("Sample lines")
    .fill('203.0.113.9 - - [31/Jan/2026:14:05:09 +0000] "GET /lamps HTTP/1.1" 503 12 "-" "curl/8"');
  const changes = page.locator("tr-pipeline-editor .trial");
  await changes.getByRole("cell", { name: "/lamps" }).waitFor();
  await changes.getByRole("cell", { name: "503" }).waitFor();
}

/** Makes an index, puts a document and finds it; the answers come in colours. */
async function useConsole(page: Page, index: string): Promise<void> {
  await goto(page, "console");
  const requests = [
    [`PUT /${index}`, "200"],
    [`POST /${index}/_doc?refresh=true\n{"title": "one line"}`, "201"],
    [`GET /${index}/_search\n{"query": {"match": {"title": "line"}}}`, "200"],
  ] as const;
  const editor = page.getByRole("textbox", { name: "Requests" });
  const answer = page.locator("article");
  for (const [request, status] of requests) {
    await editor.fill(request);
    await editor.press("Control+Home");
    await editor.press("Control+Enter");
    await answer.getByText(request.split("\n", 1)[0]!).waitFor();
    await becomes(() => answer.locator(".state").textContent(), new RegExp(`^${status}`));
  }
  const value = answer.locator("tr-json-view .string").getByText('"one line"');
  const name = answer.locator("tr-json-view .key").getByText('"title"');
  const colourOf = (one: Locator): Promise<string> =>
    one.evaluate((element) => element.ownerDocument.defaultView!.getComputedStyle(element).color);
  await becomesTrue(
    "values and names in colours of their own",
    async () => [await colourOf(value), await colourOf(name)],
    ([one, other]) => one !== other,
  );
}

for (const screen of SCREENS)
  test(`from an error to a shared dashboard, live lines, another server, pipelines and the console: ${screen.width} px, ${screen.theme}`, async () => {
    const complaints: string[] = [];
    const { context, page } = await open(screen, complaints);
    const word = `${screen.theme}${screen.width}`;
    await findError(page);
    const shared = await shareChart(page, word);
    const other = await open(screen, complaints);
    await other.page.goto(shared);
    await other.page.getByRole("heading", { name: `Payments ${word}` }).waitFor();
    await other.page.locator(".panel text").getByText("Berlin").waitFor();
    await other.context.close();
    await watchLive(page, word);
    await connectServer(page, `server-${word}`);
    await mendPipeline(page);
    await useConsole(page, word);
    await context.close();
    assert.deepEqual(complaints, []);
  });
