/**
 * Starts the dashboard. It is run before anything is painted, so that chosen looks show no flash of others, and sends
 * the first search at once. The language comes before the shell, as texts are made when their modules are loaded.
 */

import { startLanguage } from "#ui/services/browser/language.ts";
import { watchEdits } from "#ui/services/browser/sign-in.ts";
import { startTheme } from "#ui/services/browser/theme.ts";
import { firstAnswers, startFirstSearch } from "#ui/services/discover/first-search.ts";
import { hubFetch } from "#ui/services/hub/hub-connection.ts";

startTheme();
startFirstSearch(location.hash, Date.now(), (...call) => fetch(...call), hubFetch);
watchEdits();
void startShell();

/** Not awaited: the shell's file imports this one's, which must be through by then. */
async function startShell(): Promise<void> {
  await startLanguage();
  await import("./app.ts");
  await firstAnswers();
  document.querySelector(".boot")?.replaceWith(document.createElement("tr-app"));
}
