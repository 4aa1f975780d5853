/** The frame's behaviour: menus that close, themes without reload, zones. */

import { find, findAll } from "./dom.js";

const YEAR = 365 * 24 * 3600;

/** Keep one menu open at a time; a click elsewhere or Escape closes it. */
export function tendMenus() {
  const menus = () => findAll("[data-menu][open]");
  document.addEventListener("click", (event) => {
    menus()
      .filter((menu) => !menu.contains(event.target))
      .forEach((menu) => (menu.open = false));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menus().forEach((menu) => {
      menu.open = false;
      find("summary", menu).focus();
    });
  });
}

/** Change the theme at once; without scripts the form does the same with a reload. */
export function tendTheme() {
  const form = find("[data-theme-form]");
  form?.addEventListener("submit", (event) => {
    const theme = event.submitter?.value;
    if (!theme) return;
    event.preventDefault();
    document.documentElement.dataset.theme = theme;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `rocketscope_theme=${theme}; Path=/; Max-Age=${YEAR}; SameSite=Lax${secure}`;
    findAll("button", form).forEach((button) =>
      button.setAttribute("aria-pressed", String(button.value === theme)),
    );
    form.closest("details").open = false;
    dispatchEvent(new Event("themechange"));
  });
}

/** Offer the browser's own time zone beside the server's. */
export function offerZone() {
  const button = find("[data-browser-zone]");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!button || !zone) return;
  if (findAll("button", button.form).some((other) => other.value === zone)) return;
  button.value = zone;
  button.textContent = zone;
  button.hidden = false;
}
