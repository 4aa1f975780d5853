/** Adds and removes consumers of a hosted group. */

import { apiUrl } from "./document.js";
import { find, note } from "../frame/dom.js";
import { ui } from "../frame/words.js";

export class MemberActions {
  constructor({ cluster, group, token, page }) {
    this.cluster = cluster;
    this.group = group;
    this.token = token;
    page.addEventListener("click", (event) => {
      const add = event.target.closest("[data-add]");
      const remove = event.target.closest("[data-remove]");
      if (add) this.change(add, { action: "add" }, ui("asked_add"));
      if (remove) this.remove(remove);
    });
  }

  remove(button) {
    const clientId = button.dataset.remove;
    const body = clientId
      ? { action: "remove", client_id: clientId }
      : { action: "remove" };
    this.change(
      button,
      body,
      ui("asked_remove", { name: clientId || ui("one_consumer") }),
    );
  }

  async change(button, body, done) {
    const box = button.closest("[data-actions]") ?? document;
    const problem = find("[data-action-problem]", box);
    if (problem) problem.textContent = "";
    button.disabled = true;
    try {
      await this.post(body);
      note(done);
    } catch (error) {
      const text = ui("action_failed", { reason: error.message });
      if (problem) problem.textContent = text;
      else note(text, 12);
    }
    button.disabled = false;
  }

  async post(body) {
    const answer = await fetch(apiUrl(this.cluster, this.group, "/members"), {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": this.token },
      body: JSON.stringify(body),
    });
    if (answer.ok) return;
    const told = await answer.json().catch(() => ({}));
    const text = typeof told.detail === "string" ? told.detail : told.message;
    throw new Error(text || ui("server_said", { status: answer.status }));
  }
}
