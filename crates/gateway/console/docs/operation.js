// One operation: what it takes, what it answers, how it is called, and trying it.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { fieldsOf } from "../catalogue.js";
import { Prose } from "../parts/prose.js";
import { KINDS, Snippets } from "../parts/copy_as.js";
import { Copy } from "../parts/copy.js";
import { Try } from "./try.js";

/** The rule of a schema in words. @param {Schema} schema */
function rule(schema) {
  const parts = [
    [schema.type || "object"]
      .flat()
      .filter((one) => one !== "null")
      .join(" / "),
  ];
  if (schema.items?.type) parts[0] = t("docs.listOf", schema.items.type);
  if (schema.minimum !== undefined && schema.maximum !== undefined)
    parts.push(t("fromTo", schema.minimum, schema.maximum));
  if (schema.maxLength) parts.push(t("atMost", schema.maxLength));
  if (schema.format === "uri") parts.push(t("address").toLowerCase());
  return parts.join(", ");
}

/** @param {{ schema: Schema, order?: string[], resolve: (schema: Schema) => Schema, title: string }} given */
const Fields = ({ schema, order = undefined, resolve, title }) => {
  const fields = fieldsOf(schema, order, resolve);
  if (!fields.length) return null;
  return html`<h3>${title}</h3><dl class="docs-fields">${fields.map(
    (field) => html`<div key=${field.name}>
    <dt><code>${field.name}</code>${field.required && html` <span class="required">${t("docs.required")}</span>`}
      <span class="dim"> ${rule(field.schema)}</span></dt>
    <dd>${field.description && html`<p><${Prose} text=${field.description} /></p>`}
      ${
        field.options &&
        html`<p class="docs-options">${field.options.map((one) => html`<code>${String(one)}</code> `)}</p>`
      }
      ${
        field.default !== undefined &&
        field.default !== null &&
        html`<p class="dim">${t("docs.default")} <code>${JSON.stringify(field.default)}</code></p>`
      }</dd></div>`,
  )}
          </dl>`;
};

/** @param {Described["security"]} security */
const access = (security) => {
  const first = security?.[0];
  if (!first) return t("docs.open");
  if (first.operator) return t("docs.operator", t(`role.${first.operator[0]}`));
  return t("docs.key", t(`scope.${first.key?.[0] || "read"}`));
};

/** @param {{ one: Described, resolve: (schema: Schema) => Schema }} given */
export function Operation({ one, resolve }) {
  const [trying, setTrying] = useState(false);
  const content = one.requestBody?.content?.["application/json"];
  const body = content && resolve(content.schema);
  const good = one.responses?.["200"]?.content?.["application/json"]?.schema;
  const answer = good && resolve(good);
  const inner = answer?.properties?.data ? resolve(answer.properties.data) : answer;
  const shape = inner?.type === "array" || inner?.items ? resolve(/** @type {Schema} */ (inner.items)) : inner;
  const parameters = (one.parameters || []).filter((parameter) => parameter.name !== "Idempotency-Key");
  const query = {
    properties: Object.fromEntries(
      parameters.map((parameter) => [parameter.name, { description: parameter.description, ...parameter.schema }]),
    ),
    required: parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name),
  };
  const callback = Object.values(one.callbacks?.finished || {})[0]?.post;
  const asOperator = Boolean(one.security?.[0]?.operator);
  const line = `curl -s ${one.method === "get" ? "" : `-X ${one.method.toUpperCase()} `}${location.origin}${one.path}${
    one.security?.length
      ? ` \\\n  -H "${asOperator ? "Authorization: Bearer $ATELIER_TOKEN" : "SVC-API-KEY: $ATELIER_KEY"}"`
      : ""
  }${
    content?.example
      ? ` \\\n  -H 'Content-Type: application/json' -d '${JSON.stringify(content.example).replace(/'/g, "'\\''")}'`
      : ""
  }`;
  return html`<section class="card docs-op" id=${one.operationId}>
    <header><h2><a class="anchor" href=${`#${one.operationId}`}><${Prose} text=${one.summary.replace(/\.$/, "")} /></a>
      </h2><button class="button quiet" aria-expanded=${trying} onClick=${() => setTrying(!trying)}>
        ${t("docs.try")}</button></header>
    <p class="docs-path"><span class=${`method ${one.method}`}>
      ${one.method.toUpperCase()}
        </span> ${(one.also || []).map(
          (method) => html`<span class=${`method ${method}`}>${method.toUpperCase()}</span> `,
        )}
            <code>${one.path}</code></p>
    <p class="dim">${access(one.security)}
      ${
        one.parameters?.some((parameter) => parameter.name === "Idempotency-Key") ? ` · ${t("docs.once")}` : ""
      } · <code>${one.operationId}</code></p>
    ${trying && html`<${Try} one=${one} example=${content?.example} parameters=${parameters} />`}
    <div class="docs-columns"><div>
      <${Fields} schema=${query} resolve=${resolve} title=${t("docs.parameters")} />
      ${
        body &&
        html`<${Fields} schema=${body} order=${content["x-order"]} resolve=${resolve} title=${t("docs.body")} />`
      }
      ${
        shape?.properties &&
        html`<details><summary>${t("docs.answer")}</summary>
          <${Fields} schema=${shape} resolve=${resolve} title=${t("docs.answerData")} /></details>`
      }
      ${
        callback &&
        html`<details><summary>${t("docs.callback")}</summary>
          <p class="dim"><${Prose} text=${callback.summary} /> <a href="/docs/guide/callbacks">${t("howToCheck")}</a>
            </p></details>`
      }
    </div><div class="docs-code">${
      content?.example && !asOperator && one["x-makes"]
        ? html`<${Snippets} name=${one.operationId} path=${one.path} request=${content.example}
        kinds=${Object.keys(KINDS)} />`
        : html`<div class="snippets"><div class="row"><span class="space"></span><${Copy} text=${line} /></div>
        <pre tabindex="0"><code>${line}</code></pre></div>`
    }</div></div>
  </section>`;
}
