// What an account buys by itself: which product, below which balance, and for how much money a month.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { count } from "../show.js";
import { get, post, put, remove } from "../api.js";
import { Ask } from "./ask.js";
import { partOf } from "./money.js";

const PATH = "/account/v1/topup";

/** How many minor units a whole one has. @param {Wire.Offer} offer */
const units = (offer) => 10 ** (offer.price.split(".")[1]?.length || 0);

/** @param {{ offers: Wire.Offer[], may: boolean }} given */
export function TopUp({ offers, may }) {
  const [row, setRow] = useState(/** @type {Wire.Topup | null} */ (null));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    get(PATH).then(
      ({ data }) => setRow(data),
      () => setRow(null),
    );
  }, []);
  const bought = offers.filter((offer) => !offer.plan);
  if (!row || !bought.length || !(row.product || (may && row.canSave.length))) return null;
  const own = bought.find((offer) => offer.name === row.product);
  const failed = (/** @type {Refusal} */ error) => setProblem(error.message);
  /** The first purchase saves the way to pay. */
  const save = () =>
    post("/account/v1/payments", {
      product: bought[0].name,
      provider: row.canSave[0],
      save: true,
      returnUrl: "/console/account?buy",
    }).then(({ data }) => data.payAt && location.assign(data.payAt), failed);
  /** @type {Asking} */
  const change = {
    title: t("topUp"),
    text: t("topUpText"),
    action: t("save"),
    fields: [
      {
        name: "product",
        label: t("product"),
        required: true,
        options: bought.map((offer) => offer.name),
        value: row.product ?? undefined,
      },
      { name: "threshold", label: t("topUpBelow"), type: "number", required: true, value: row.threshold ?? undefined },
      {
        name: "monthlyCap",
        label: t("topUpCap", own?.currency || bought[0].currency),
        type: "number",
        required: true,
        value: own && row.monthlyCap ? row.monthlyCap / units(own) : undefined,
      },
    ],
    act: async (given) => {
      const offer = bought.find((one) => one.name === given.product) || bought[0];
      const monthlyCap = Math.round(given.monthlyCap * units(offer));
      const { data } = await put(PATH, { ...given, monthlyCap });
      setRow(data);
    },
  };
  const stop = () => remove(PATH).then(({ data }) => setRow(data), failed);
  const cap = own && partOf(row.monthlyCap || 0, own);
  return html`<section class="card" aria-label=${t("topUp")}><header><div><h2>${t("topUp")}</h2>
      <p class="dim">${
        row.product && own
          ? t("topUpSays", row.product, count(row.threshold), cap, partOf(row.spentThisMonth, own))
          : t(row.saved.length ? "topUpOff" : "topUpUnsaved")
      }</p></div>
      ${
        may &&
        html`<span class="actions">
          ${
            row.saved.length
              ? html`<button type="button" class="button quiet" onClick=${() => setAsking(change)}>
                  ${t(row.product ? "change" : "topUpSet")}</button>`
              : html`<button type="button" class="button quiet" onClick=${save}>
                  ${t("topUpSave", bought[0].name)}</button>`
          }
          ${
            row.product &&
            html`<button type="button" class="button quiet danger" onClick=${stop}>${t("topUpEnd")}</button>`
          }
          </span>`
      }</header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${row.why && html`<p class=${`told ${row.active ? "due" : "bad"}`} role="status">${row.why}</p>`}
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}</section>`;
}
