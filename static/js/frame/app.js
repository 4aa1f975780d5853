/** The script that every page loads. */

import { offerZone, tendMenus, tendTheme } from "./frame.js";
import { listenForKeys } from "./keys.js";

tendMenus();
tendTheme();
offerZone();
listenForKeys();
