/** A Chromium for tests: the system's, without its own network requests. */

import { existsSync } from "node:fs";
import type { Browser, Page } from "playwright-core";

const BINARIES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts a browser. Throws with the remedy where there is none. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = [process.env["TAILRACE_CHROMIUM"] ?? "", ...BINARIES].find(existsSync);
  if (executablePath === undefined) {
    throw new Error("there is no Chromium; run bash deploy/setup.sh --with-browser or set TAILRACE_CHROMIUM");
  }
  // Loaded where it is used: the list of benchmarks, which knows those of pages, needs it not.
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, args: FLAGS });
}

export interface WatchedPage {
  readonly page: Page;
  /** Errors of scripts and of the console, and requests to other hosts. A test expects it empty. */
  readonly complaints: string[];
}

/** Opens a page that notes what goes wrong in it. */
export async function openPage(browser: Browser, url: string): Promise<WatchedPage> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  const host = new URL(url).host;
  page.on("pageerror", (error) => complaints.push(`script: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const asked = new URL(request.url());
    if (/^(https?|wss?):$/.test(asked.protocol) && asked.host !== host)
      complaints.push(`asked ${request.url()}`);
  });
  await page.goto(url);
  return { page, complaints };
}
