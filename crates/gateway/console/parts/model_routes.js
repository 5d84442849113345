// The routes of a model: which back ends make it, by which name each of them knows it, and their shares.
import { html } from "../lib.js";
import { t } from "../words.js";
import { ranked, shareOf } from "./model.js";

const COST_UNITS = ["call", "item", "second", "megapixel", "reported", "million_reported"];

/**
 * @param {{ place: number, route: WayTo, backends: Wire.Backend[], share: string, set: (part: Partial<WayTo>) => void,
 * drop: () => void }} given
 */
function One({ place, route, backends, share, set, drop }) {
  const id = `route-${place}`;
  const known = backends.some((one) => one.name === route.backend || one.id === route.backend);
  const number = (/** @type {On} */ event) => (event.target.value === "" ? undefined : Number(event.target.value));
  const own = backends.find((one) => one.name === route.backend || one.id === route.backend);
  const guard = (/** @type {Partial<Wire.StopLoss>} */ part) =>
    set({ stop_loss: { .../** @type {Wire.StopLoss} */ (route.stop_loss), ...part } });
  const spend = (/** @type {number} */ usd) => set({ cost: { .../** @type {Wire.UnitCost} */ (route.cost), usd } });
  return html`<fieldset class="mapping route"><legend class="visually-hidden">
    ${t("routeTo", route.backend || t("mapNew"))}</legend>
    <div class="two"><div class="field"><label for=${`${id}-backend`}>${t("backend")}</label>
      <select id=${`${id}-backend`} required value=${route.backend}
        onChange=${(event) => set({ backend: event.target.value })}>
        ${!known && html`<option value=${route.backend}>${route.backend || t("choose")}</option>`}
          ${backends.map((one) => html`<option value=${one.name}>${one.name}</option>`)}</select></div>
      <div class="field"><label for=${`${id}-model`}>${t("routeModel")}</label>
        <input id=${`${id}-model`} maxlength="200" spellcheck="false" placeholder=${t("routeOwn")}
          value=${route.model || ""} onInput=${(event) => set({ model: event.target.value.trim() || undefined })} />
            </div></div>
    <div class="two"><div class="field"><label for=${`${id}-weight`}>${t("routeWeight")}</label>
      <input id=${`${id}-weight`} type="number" min="1" step="1" placeholder="1" value=${route.weight ?? ""}
        onInput=${(event) => set({ weight: number(event) })} />
          ${share && html`<p class="hint">${t("routeShare", share)}</p>`}</div>
      <div class="field"><label for=${`${id}-rank`}>${t("rankLabel")}</label>
        <input id=${`${id}-rank`} type="number" step="1" placeholder=${own?.rank ?? ""} value=${route.rank ?? ""}
          onInput=${(event) => set({ rank: number(event) })} /></div></div>
    <div class="two"><div class="field"><label for=${`${id}-unit`}>${t("routeCost")}</label>
      <select id=${`${id}-unit`} value=${route.cost?.unit || ""}
        onChange=${(event) =>
          set({ cost: event.target.value ? { unit: event.target.value, usd: route.cost?.usd ?? 0 } : undefined })}>
        <option value="">${t("routeOwnCost")}</option>
          ${COST_UNITS.map((unit) => html`<option value=${unit}>${t(`cost.${unit}`)}</option>`)}</select></div>
      ${
        route.cost &&
        html`<div class="field"><label for=${`${id}-usd`}>USD</label>
          <input id=${`${id}-usd`} type="number" min="0" step="any" required value=${route.cost.usd}
            onInput=${(event) => spend(Number(event.target.value))} /></div>`
      }</div>
    <div class="two"><div class="field"><label for=${`${id}-percent`}>${t("stopLoss")}</label>
      <input id=${`${id}-percent`} type="number" min="-1000" max="99" step="1" placeholder=${t("stopLossNone")}
        value=${route.stop_loss?.percent ?? ""}
        onInput=${(event) =>
          event.target.value === ""
            ? set({ stop_loss: undefined })
            : guard({ percent: Number(event.target.value), jobs: route.stop_loss?.jobs ?? 20 })} /></div>
      ${
        route.stop_loss &&
        html`<div class="field"><label for=${`${id}-jobs`}>${t("stopLossJobs")}</label>
          <input id=${`${id}-jobs`} type="number" min="1" max="100000" step="1" required value=${route.stop_loss.jobs}
            onInput=${(event) => guard({ jobs: Number(event.target.value) })} /></div>`
      }</div>
    ${
      route.paused &&
      html`<p class="hint bad">${t("routePaused", route.paused)}
        <button type="button" class="button quiet" onClick=${() => set({ paused: undefined })}>
          ${t("routeResume")}</button></p>`
    }
    <div class="row"><span class="space"></span><button type="button" class="button quiet danger" onClick=${drop}>
      ${t("remove")}</button></div></fieldset>`;
}

/** @param {{ value: WayTo[], change: (next: WayTo[]) => void, backends: Wire.Backend[] }} given */
export function ModelRoutes({ value, change, backends }) {
  const rankOf = (/** @type {string} */ name) => backends.find((one) => one.name === name || one.id === name)?.rank;
  const groups = ranked(value, rankOf);
  const share = (/** @type {WayTo} */ route) => {
    const group = groups.find((one) => one.includes(route));
    return group && group.length > 1 ? shareOf(route, group) : "";
  };
  const set = (/** @type {number} */ place) => (/** @type {Partial<WayTo>} */ part) =>
    change(
      value.map((route, at) =>
        at === place
          ? /** @type {WayTo} */ (
              Object.fromEntries(Object.entries({ ...route, ...part }).filter(([, one]) => one !== undefined))
            )
          : route,
      ),
    );
  return html`<p class="hint">${value.length ? t("routesHint") : t("routesNone")}</p>
    ${value.map(
      (route, place) =>
        html`<${One} key=${place} place=${place} route=${route} backends=${backends} share=${share(route)}
          set=${set(place)} drop=${() => change(value.filter((_, at) => at !== place))} />`,
    )}
    <div class="row">
      <button type="button" class="button quiet"
        onClick=${() =>
          change([
            ...value,
            { backend: backends.find((one) => !value.some((route) => route.backend === one.name))?.name || "" },
          ])}>${t("routeAdd")}</button></div>`;
}
