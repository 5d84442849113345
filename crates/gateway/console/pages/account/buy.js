// What can be bought, as cards; what was bought; and what is bought by itself when the balance is low.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { count, quotaOf } from "../../show.js";
import { get, post } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { money } from "../../parts/money.js";
import { PayState } from "../../parts/pay_state.js";
import { Paged, Time, usePages } from "../../parts/table.js";
import { TopUp } from "../../parts/top_up.js";

/** Where payers come back to: an address that every provider takes, so without `=` and `&`. */
const RETURN_URL = "/console/account?buy";

/** What a product gives, in one line. @param {Wire.Offer} offer */
const gives = (offer) => (offer.plan ? t("offerPlan", offer.plan) : quotaOf(offer.quota));

/** @param {{ offer: Wire.Offer, buy: (() => void) | null }} given */
const Offer = ({ offer, buy }) => html`<li class="card offer">
  <h3 class="break">${offer.name}</h3>
  <p class="large">${money(offer)}</p>
  <p class="dim">${gives(offer)}${offer.creditDays ? ` · ${t("offerDays", count(offer.creditDays))}` : ""}</p>
  ${buy && html`<button type="button" class="button" onClick=${buy}>${t("buy")}</button>`}</li>`;

/** @param {{ who: Owner }} given */
export function Buy({ who }) {
  const [shop, setShop] = useState(/** @type {Wire.ShopView | null} */ (null));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [problem, setProblem] = useState("");
  const [begun, setBegun] = useState(/** @type {Wire.Payment | null} */ (null));
  const pages = usePages("/account/v1/payments?", 10);
  useEffect(() => {
    get("/account/v1/products").then(
      ({ data }) => setShop(data),
      (error) => setProblem(error.message),
    );
  }, []);
  /** @param {Wire.Offer} offer @param {Values} given */
  const begin = async (offer, given) => {
    const { data } = await post("/account/v1/payments", {
      product: offer.name,
      returnUrl: RETURN_URL,
      ...given,
    });
    if (data.payAt) location.assign(data.payAt);
    else {
      setBegun(data);
      pages.again();
    }
  };
  /** With one provider there is nothing to choose. @param {Wire.Offer} offer */
  const buy = (offer) => {
    const providers = shop?.providers || [];
    setProblem("");
    if (providers.length === 1) {
      begin(offer, {}).catch((error) => setProblem(error.message));
      return;
    }
    setAsking({
      title: t("buyTitle", offer.name, money(offer)),
      action: t("buy"),
      fields: [
        {
          name: "provider",
          label: t("payBy"),
          required: true,
          options: providers,
          names: (one) => t(`provider.${one}`),
        },
      ],
      act: (given) => begin(offer, given),
    });
  };
  const may = !who.looking && (shop?.providers.length || 0) > 0;
  return html`${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${begun && html`<p class="told due" role="status">${t("payByHand", money(begun), begun.id)}</p>`}
    ${
      shop &&
      (shop.products.length
        ? html`<ul class="offers" aria-label=${t("offers")}>
            ${shop.products.map(
              (offer) => html`<${Offer} key=${offer.name} offer=${offer} buy=${may ? () => buy(offer) : null} />`,
            )}</ul>`
        : html`<p class="empty small">${t("noOffers")}</p>`)
    }
    ${shop && shop.products.length > 0 && html`<${TopUp} offers=${shop.products} may=${may} />`}
    <section class="card flush"><header class="inner"><h2>${t("payments")}</h2></header>
      <${Paged} pages=${pages} caption=${t("payments")} empty=${t("noPayments")} columns=${
        /** @type {Column<Wire.Payment>[]} */ ([
          { title: t("when"), show: (row) => html`<${Time} at=${row.createdAt} />` },
          { title: t("product"), show: (row) => html`<b class="break">${row.product}</b>` },
          { title: t("amount"), number: true, show: (row) => money(row) },
          { title: t("status"), show: (row) => html`<${PayState} state=${row.state} />` },
          {
            title: "",
            show: (row) =>
              may &&
              row.state === "pending" &&
              row.payAt &&
              html`<a class="button quiet" href=${row.payAt}>${t("payNow")}</a>`,
          },
        ])
      } /></section>
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
