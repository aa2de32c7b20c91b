/** What a person does at the dashboard's sign-in, by a browser without scripts. */

import { PERSON, type World } from "./auth-server.ts";
import { Browser, type Page } from "./browser.ts";

/** Signs a person in with the password. Returns the browser and the page of `returnTo`. */
export async function signIn(
  world: World,
  returnTo = "/api/auth/me",
  browser = new Browser(),
): Promise<{ browser: Browser; page: Page }> {
  const url = `${world.origin}/api/auth/login?return_to=${encodeURIComponent(returnTo)}`;
  const form = await browser.follow(await browser.get(url), world.origin);
  const page = await browser.follow(await browser.submit(form, "/sign-in", PERSON), world.origin);
  return { browser, page };
}

/** Signs in again as far as that needs no password. */
export async function relogin(world: World, browser: Browser): Promise<Page> {
  const url = `${world.origin}/api/auth/login?return_to=/api/auth/me`;
  return browser.follow(await browser.get(url), world.origin);
}

/** Asks who is signed in. */
export function me(world: World, browser: Browser): Promise<Page> {
  return browser.get(`${world.origin}/api/auth/me`);
}
