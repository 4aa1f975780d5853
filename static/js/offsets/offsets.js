/** The form that moves offsets: checks the name, leads to a copy. */

export {};

const typed = /** @type {HTMLInputElement | null} */ (
  document.querySelector("[data-name]")
);
if (typed?.form) {
  const button = typed.form.querySelector("button");
  const mismatch = /** @type {HTMLElement | null} */ (
    typed.form.querySelector("[data-mismatch]")
  );
  const check = () => {
    const same = typed.value.trim() === typed.dataset.name;
    if (button) button.disabled = !same;
    if (mismatch) mismatch.hidden = same || !typed.value;
  };
  typed.addEventListener("input", check);
  check();
}

for (const each of document.querySelectorAll("[data-clone]")) {
  const form = /** @type {HTMLFormElement} */ (each);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = new FormData(form);
    const target = String(given.get("target") ?? "").trim();
    if (!target) return;
    const query = new URLSearchParams({
      to: "group",
      from: form.dataset.clone ?? "",
      topic: String(given.get("topic") ?? ""),
    });
    location.assign(`../../${encodeURIComponent(target)}/offsets/?${query}`);
  });
}

// A field belongs to its way: who fills it means that way.
const ways = { at: "time", from: "group" };
for (const [field, way] of Object.entries(ways)) {
  const input = document.querySelector(`#where [name="${field}"]`);
  input?.addEventListener("input", () => {
    const radio = /** @type {HTMLInputElement | null} */ (
      document.querySelector(`#where [name="to"][value="${way}"]`)
    );
    if (radio) radio.checked = true;
  });
}
