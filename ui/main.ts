/** Starts the dashboard: the language first, as texts are made when their modules are loaded. */

import { startFirstSearch } from "./services/first-search.ts";
import { startLanguage } from "./services/language.ts";
import { watchEdits } from "./services/sign-in.ts";
import { startTheme } from "./theme.ts";

startFirstSearch(location.hash, Date.now(), (...call) => fetch(...call));
startTheme();
watchEdits();
await startLanguage();
await import("./app.ts");
document.querySelector(".boot")?.replaceWith(document.createElement("tr-app"));
