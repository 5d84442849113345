//! The table of the service's own pages: one line for each, beside the families' table of the contract. Router, documents
//! and tests read it; what a page reads and answers follows from its handler. A new page is its handler and a line here.

mod account_events;
mod answers;
mod artgen;
mod batches;
mod console;
mod custody;
mod events;
mod job_list;
mod jobs;
mod mcp;
mod periods;
mod rows;
mod spenders;
mod uploads;
mod usable_models;

/// Self-service of an account.
mod account {
    pub(super) mod acts;
    pub(super) mod callbacks;
    pub(super) mod credits;
    pub(super) mod keys;
    pub(super) mod ledger;
    pub(super) mod models;
    pub(super) mod payments;
    pub(super) mod plan;
    pub(super) mod quote;
    pub(super) mod receipts;
    pub(super) mod secret;
    pub(super) mod usage;
    pub(super) mod vouchers;
}

/// The operator API. Every change leaves a line in the audit record.
mod admin {
    pub(super) mod account_keys;
    pub(super) mod accounts;
    pub(super) mod backends;
    pub(super) mod banned;
    pub(super) mod credits;
    pub(super) mod groups;
    pub(super) mod models;
    pub(super) mod operators;
    pub(super) mod payments;
    pub(super) mod plans;
    pub(super) mod prices;
    pub(super) mod products;
    pub(super) mod receipts;
    pub(super) mod views;
    pub(super) mod vouchers;
    pub(super) mod workers;
}

/// Doors for clients of other services: each turns a wire format into orders, and jobs into its answers.
mod doors {
    pub(super) mod images;
    pub(super) mod midjourney;
    pub(super) mod models;
    pub(super) mod videos;
}

/// What the service shows of itself: home, health, metrics, documents; also assets and the hooks of vendors.
mod service {
    pub(super) mod assets;
    pub(super) mod docs;
    pub(super) mod health;
    pub(super) mod home;
    pub(super) mod hooks;
    pub(super) mod links;
    pub(super) mod metrics;
    pub(super) mod payments;
    pub(super) mod receipts;
}

use atelier_contract::Scope;
use atelier_contract::pages::{Access, Method, Page, PageListeners};

use crate::http::page::{Handler, delete, get, page, patch, post, put};

use account::{acts, callbacks, keys, ledger, quote, secret, usage};
use admin::{account_keys, accounts, backends, banned, groups, operators, prices, views, workers};
use console::{files, session};
use doors::{images, midjourney, models, videos};
use service::{assets, docs, health, home, hooks, links, metrics, payments};

const OPEN: Access = Access::Open;
const SUBMIT: Access = Access::Caller(Scope::Submit);
const READ: Access = Access::Caller(Scope::Read);
const ACCOUNT: Access = Access::Caller(Scope::Account);
const VIEWER: Access = Access::Viewer;
const OPERATOR: Access = Access::Operator;

/// Both methods of the pages that read their parameters from the query and from the body.
const EITHER: &[Method] = &[Method::Get, Method::Post];

/// Every page. A static and not a constant: of a constant, every place that reads it has handlers of its own.
#[rustfmt::skip]
pub(crate) static PAGES: &[Page<Handler>] = &[
    get("artgen.info", "/artgen/v1/info", READ, "Shows the account: balance, reserved quota, e-mail address.", page!(artgen::info)).by(EITHER),
    get("artgen.fetch_list", "/artgen/v1/fetch-list", READ, "Lists earlier artgen image jobs.", page!(artgen::history)).by(EITHER)
        .example(r#"{"page":1,"limit":20,"status":"SUCCESS"}"#),
    post("artgen.prompt_check", "/artgen/v1/promptCheck", READ, "Checks a prompt against the banned words, free of charge.", page!(artgen::check_prompt))
        .example(r#"{"prompt":"a lighthouse at dawn"}"#),
    get("artgen.status", "/artgen/status", READ, "Shows the state of the artgen image endpoints.", page!(artgen::status)),

    get("jobs.list", "/jobs/v1", READ, "Lists jobs of every family.", page!(jobs::list)),
    get("jobs.show", "/jobs/v1/{jobId}", READ, "Shows a job of any family, in one uniform shape.", page!(jobs::show)),
    get("jobs.answer", "/jobs/v1/{jobId}/answer", READ, "Returns the result of a synchronous operation that was not waited for: 202 until it is ready, then status and body of the call.", page!(answers::show)),
    get("jobs.events", "/jobs/v1/{jobId}/events", READ, "Streams every change of a job as server-sent events.", page!(events::follow)),
    get("jobs.trail", "/jobs/v1/{jobId}/trail", READ, "Shows what happened to a job: attempts, and every try of its callback.", page!(jobs::trail)),
    get("jobs.account_events", "/jobs/v1/events", READ, "Streams every change of every job of the account as server-sent events, starting with the unfinished jobs.", page!(account_events::follow)),
    post("jobs.batch", "/jobs/v1/batch", SUBMIT, "Submits up to 1,000 requests of any operations in one commit; each is accepted or rejected on its own.", page!(batches::submit)).idempotent()
        .example(r#"{"requests":[{"operation":"artgen.imagine","request":{"prompt":"a lighthouse at dawn"}},{"operation":"facegen.swap","request":{"targetImage":"https://example.com/a.png","swapImage":"https://example.com/b.png"}}]}"#),
    get("jobs.batch.show", "/jobs/v1/batch/{batchId}", READ, "Shows the progress of a batch: counts, and each request with its job.", page!(batches::show)),
    get("jobs.batch.events", "/jobs/v1/batch/{batchId}/events", READ, "Streams every change of a batch's jobs as server-sent events, until the last job has ended.", page!(account_events::follow_batch)),
    delete("jobs.remove", "/jobs/v1/{jobId}", SUBMIT, "Deletes the files and the prompt of a finished job; its ledger rows stay.", page!(jobs::remove)),
    post("jobs.cancel", "/jobs/v1/{jobId}/cancel", SUBMIT, "Cancels an unfinished job; its quota is returned.", page!(jobs::cancel)),

    post("files.upload", "/files/v1", SUBMIT, "Uploads an image or a video and keeps it for 31 days; its URL works in every image field of this account.", page!(uploads::upload)),
    get("files.list", "/files/v1", READ, "Lists the uploads, newest first.", page!(uploads::list)),
    delete("files.remove", "/files/v1/{fileId}", SUBMIT, "Deletes an upload.", page!(uploads::remove)),

    post("links.create", "/jobs/v1/{jobId}/links", SUBMIT, "Creates a link that shows a file of a job to anyone who has it, until it expires or is revoked.", page!(links::create))
        .example(r#"{"file":0,"expiresIn":604800}"#),
    get("links.list", "/links/v1", READ, "Lists the account's links that have not expired.", page!(links::list)),
    delete("links.remove", "/links/v1/{linkId}", SUBMIT, "Revokes a link at once.", page!(links::end)),

    get("openai.models", "/v1/models", READ, "Lists the models that can be used under `/v1` now.", page!(models::list)),
    get("openai.models.show", "/v1/models/{*model}", READ, "Shows one model that can be used under `/v1` now.", page!(models::show)),

    get("openai.images.show", "/v1/images/{imageId}", READ, "Returns the result of an image call that was not waited for.", page!(images::show)),

    post("openai.videos.create", "/v1/videos", SUBMIT, "Starts a video.", page!(videos::create)).idempotent()
        .example(r#"{"prompt":"a paper boat on a quiet canal","seconds":4,"size":"1280x720"}"#),
    get("openai.videos", "/v1/videos", READ, "Lists videos, newest first.", page!(videos::list)),
    get("openai.videos.show", "/v1/videos/{videoId}", READ, "Shows one video.", page!(videos::show)),
    delete("openai.videos.remove", "/v1/videos/{videoId}", SUBMIT, "Cancels an unfinished video, or deletes a finished one.", page!(videos::remove)),
    get("openai.videos.content", "/v1/videos/{videoId}/content", READ, "Downloads a video, or its first frame.", page!(videos::content)),
    post("openai.videos.remix", "/v1/videos/{videoId}/remix", SUBMIT, "Starts a video with the size and length of an earlier one.", page!(videos::remix)).idempotent()
        .example(r#"{"prompt":"the same boat in the rain"}"#),

    post("midjourney.submit", "/mj/submit/{call}", SUBMIT, "Starts a task: imagine, action, change, simple-change, blend, describe, modal or video.", page!(midjourney::submit)).idempotent()
        .example(r#"{"prompt":"a lighthouse at dawn","state":"my-word"}"#),
    post("midjourney.submit_at_speed", "/{speed}/mj/submit/{call}", SUBMIT, "Starts a task at a speed: mj-relax, mj-fast or mj-turbo.", page!(midjourney::submit)).idempotent()
        .example(r#"{"prompt":"a lighthouse at dawn"}"#),
    post("midjourney.swap", "/mj/insight-face/swap", SUBMIT, "Puts the face of one image into another.", page!(midjourney::swap)).idempotent()
        .example(r#"{"sourceBase64":"data:image/png;base64,…","targetBase64":"data:image/png;base64,…"}"#),
    get("midjourney.task", "/mj/task/{taskId}/fetch", READ, "Shows one task, or null.", page!(midjourney::fetch)),
    post("midjourney.cancel", "/mj/task/{taskId}/cancel", SUBMIT, "Cancels an unfinished task.", page!(midjourney::cancel)),
    get("midjourney.seed", "/mj/task/{taskId}/image-seed", SUBMIT, "Returns the seed of a task's image.", page!(midjourney::seed)),
    get("midjourney.tasks", "/mj/task/list", READ, "Lists recent tasks, newest first.", page!(midjourney::list)),
    post("midjourney.some", "/mj/task/list-by-condition", READ, "Lists tasks by their ids.", page!(midjourney::by_ids))
        .example(r#"{"ids":["019a0000-0000-7000-8000-000000000001"]}"#),

    get("account.usage", "/account/v1/usage", READ, "Shows the consumed quota by family and by day, or by key, member, model, operation or tag.", page!(usage::show)),
    get("account.ledger", "/account/v1/ledger", READ, "Lists every movement of quota, newest first.", page!(ledger::list)),
    get("account.credits", "/account/v1/credits", READ, "Lists the account's credits and their expiry, in the order in which they are spent.", page!(account::credits::show)),
    get("account.plan", "/account/v1/plan", READ, "Shows the account's plan and its next renewal.", page!(account::plan::show)),
    delete("account.plan.end", "/account/v1/plan", ACCOUNT, "Ends a plan that the account has bought, and its subscription, with the period that is paid for.", page!(account::plan::end)),
    post("account.vouchers.redeem", "/account/v1/vouchers", ACCOUNT, "Redeems a voucher; the same account gets the same response again.", page!(account::vouchers::redeem))
        .example(r#"{"code":"7K3M-9QXA-02ZT-C4VE"}"#),
    get("account.products", "/account/v1/products", READ, "What the account can buy, and who takes payments.", page!(account::payments::offers)),
    get("account.payments", "/account/v1/payments", READ, "Payments of the account, the latest first.", page!(account::payments::list)),
    post("account.payments.create", "/account/v1/payments", ACCOUNT, "Begins a payment for a product; `payAt` is where it is made.", page!(account::payments::create))
        .example(r#"{"product":"hundred"}"#),
    get("account.payments.show", "/account/v1/payments/{id}", READ, "One payment of the account.", page!(account::payments::show)),
    get("account.topup", "/account/v1/topup", READ, "What the account buys by itself when its balance is low.", page!(account::payments::topup)),
    put("account.topup.set", "/account/v1/topup", ACCOUNT, "Buys a product whenever the balance is below a threshold, from a saved way to pay.", page!(account::payments::set_topup))
        .example(r#"{"product":"hundred","threshold":20,"monthlyCap":5000}"#),
    delete("account.topup.remove", "/account/v1/topup", ACCOUNT, "Ends the automatic top-up.", page!(account::payments::remove_topup)),
    get("account.receipts", "/account/v1/receipts", READ, "Receipts of the account, signed, the latest first.", page!(account::receipts::list)),
    get("account.receipts.show", "/account/v1/receipts/{jobId}", READ, "The signed receipt of a job: what it cost, and the hash of each file.", page!(account::receipts::show)),
    get("account.keys", "/account/v1/keys", ACCOUNT, "Lists the account's keys, without their secrets.", page!(keys::list)),
    post("account.keys.issue", "/account/v1/keys", ACCOUNT, "Issues a key; its secret is shown only once.", page!(keys::issue))
        .example(r#"{"name":"laptop","scopes":["submit","read"],"expiresAt":"2030-01-01"}"#),
    patch("account.keys.change", "/account/v1/keys/{keyId}", ACCOUNT, "Changes the limits and rules of a key; omitted fields stay, and null removes one.", page!(keys::change))
        .example(r#"{"limits":[{"window":"day","quota":20}],"models":["image-*"],"note":"the shop"}"#),
    post("account.keys.rotate", "/account/v1/keys/{keyId}/rotate", ACCOUNT, "Replaces the secret of a key, shown only once; its spending and the keys below it stay.", page!(keys::rotate))
        .example(r#"{"overlapSeconds":3600}"#),
    delete("account.keys.revoke", "/account/v1/keys/{keyId}", ACCOUNT, "Revokes a key and all keys below it at once.", page!(keys::revoke)),
    get("account.acts", "/account/v1/acts", ACCOUNT, "Lists what was done to the account with its keys (keys, worker accounts, secrets, sessions), newest first.", page!(acts::list)),
    post("account.quote", "/account/v1/quote", READ, "Quotes the price that a submit of the same body would reserve.", page!(quote::ask))
        .example(r#"{"operation":"artgen.imagine","request":{"prompt":"a lighthouse at dawn"}}"#),
    get("account.models", "/account/v1/models", READ, "Lists the models that the account can use now, with their fields and prices.", page!(account::models::list)),
    get("account.callbacks", "/account/v1/callbacks", ACCOUNT, "Lists callbacks with their outcomes.", page!(callbacks::list)),
    get("account.callbacks.show", "/account/v1/callbacks/{id}", ACCOUNT, "Shows one callback with every try.", page!(callbacks::show)),
    post("account.callbacks.redeliver", "/account/v1/callbacks/{id}/redeliver", ACCOUNT, "Sends a callback again.", page!(callbacks::redeliver)),
    post("account.callbacks.redeliver_since", "/account/v1/callbacks/redeliver", ACCOUNT, "Sends all callbacks again that were given up since a time.", page!(callbacks::redeliver_since))
        .example(r#"{"since":"2026-01-31 12:00:00"}"#),
    post("account.callbacks.sample", "/account/v1/callbacks/sample", ACCOUNT, "Sends a signed sample callback to a URL once and returns the response.", page!(callbacks::sample))
        .example(r#"{"url":"https://example.com/hook"}"#),
    get("account.callbacks.secret", "/account/v1/callbacks/secret", ACCOUNT, "Shows the secret that signs callbacks.", page!(secret::show)),
    post("account.callbacks.rotate", "/account/v1/callbacks/secret", ACCOUNT, "Replaces the signing secret; the old one also signs for a day.", page!(secret::rotate)),

    get("custody.accounts.vendors", "/custody/v1/vendors", ACCOUNT, "Lists the vendors at which callers can have worker accounts, with their settings.", page!(custody::vendors)),
    get("custody.accounts", "/custody/v1/accounts", ACCOUNT, "Lists the caller's own worker accounts.", page!(custody::list)),
    post("custody.accounts.create", "/custody/v1/accounts", ACCOUNT, "Registers a worker account of the caller; its credential is stored encrypted and never shown.", page!(custody::create))
        .example(r#"{"vendor":"relay","base_url":"https://media.example.com","name":"mine","credential":"at_secret","concurrency":2}"#),
    patch("custody.accounts.change", "/custody/v1/accounts/{id}", ACCOUNT, "Changes or pauses a worker account of the caller.", page!(custody::change))
        .example(r#"{"concurrency":4}"#),
    post("custody.accounts.probe", "/custody/v1/accounts/{id}/probe", ACCOUNT, "Checks a worker account of the caller at its vendor.", page!(custody::probe)),
    delete("custody.accounts.remove", "/custody/v1/accounts/{id}", ACCOUNT, "Removes a worker account of the caller.", page!(custody::remove)),

    get("admin.accounts", "/admin/v1/accounts", VIEWER, "Lists accounts.", page!(accounts::list)),
    post("admin.accounts.create", "/admin/v1/accounts", OPERATOR, "Creates an account with its first key.", page!(accounts::create))
        .example(r#"{"email":"someone@example.com","balance":100,"max_queue":20}"#),
    get("admin.accounts.show", "/admin/v1/accounts/{id}", VIEWER, "Shows one account.", page!(accounts::show)),
    patch("admin.accounts.change", "/admin/v1/accounts/{id}", OPERATOR, "Changes an account.", page!(accounts::change))
        .example(r#"{"max_queue":50,"disabled":false}"#),
    delete("admin.accounts.remove", "/admin/v1/accounts/{id}", OPERATOR, "Deletes everything of an account without unfinished jobs, except its ledger.", page!(accounts::remove)),
    post("admin.accounts.credit", "/admin/v1/accounts/{id}/credit", OPERATOR, "Grants or withdraws quota.", page!(admin::credits::credit))
        .example(r#"{"amount":250,"reason":"invoice 17","idempotency_key":"invoice-17"}"#),
    get("admin.accounts.credits", "/admin/v1/accounts/{id}/credits", VIEWER, "Lists an account's credits and their expiry, in the order in which they are spent.", page!(admin::credits::show)),
    post("admin.accounts.visit", "/admin/v1/accounts/{id}/visit", OPERATOR, "Opens the console as an account sees it, read-only and for an hour.", page!(session::visit)),
    get("admin.keys", "/admin/v1/accounts/{id}/keys", VIEWER, "Lists an account's keys.", page!(account_keys::list)),
    post("admin.keys.issue", "/admin/v1/accounts/{id}/keys", OPERATOR, "Issues a key for an account.", page!(account_keys::issue))
        .example(r#"{"name":"second"}"#),
    patch("admin.keys.change", "/admin/v1/accounts/{id}/keys/{keyId}", OPERATOR, "Changes the limits and rules of a key; omitted fields stay, and null removes one.", page!(account_keys::change))
        .example(r#"{"limits":[{"window":"month","quota":500}]}"#),
    post("admin.keys.rotate", "/admin/v1/accounts/{id}/keys/{keyId}/rotate", OPERATOR, "Replaces the secret of a key, shown only once.", page!(account_keys::rotate))
        .example(r#"{"overlapSeconds":3600}"#),
    delete("admin.keys.revoke", "/admin/v1/accounts/{id}/keys/{keyId}", OPERATOR, "Revokes a key.", page!(account_keys::revoke)),
    get("admin.plans", "/admin/v1/plans", VIEWER, "Lists plans.", page!(admin::plans::list)),
    post("admin.plans.create", "/admin/v1/plans", OPERATOR, "Creates a plan.", page!(admin::plans::create))
        .example(r#"{"name":"studio","every":"month","quota":1000,"rollover_cap":200,"then":"pay_as_you_go"}"#),
    get("admin.plans.show", "/admin/v1/plans/{*name}", VIEWER, "Shows one plan; write a `/` in its name as it is or as %2F.", page!(admin::plans::show)),
    patch("admin.plans.change", "/admin/v1/plans/{*name}", OPERATOR, "Changes a plan for periods that start from now on.", page!(admin::plans::change))
        .example(r#"{"quota":1200}"#),
    delete("admin.plans.remove", "/admin/v1/plans/{*name}", OPERATOR, "Removes a plan without accounts.", page!(admin::plans::remove)),
    get("admin.accounts.plan", "/admin/v1/accounts/{id}/plan", VIEWER, "Shows the plan of an account.", page!(admin::plans::of_account)),
    put("admin.accounts.plan.assign", "/admin/v1/accounts/{id}/plan", OPERATOR, "Gives an account a plan: an upgrade at once, a downgrade at the next renewal.", page!(admin::plans::assign))
        .example(r#"{"plan":"studio"}"#),
    delete("admin.accounts.plan.end", "/admin/v1/accounts/{id}/plan", OPERATOR, "Ends the plan of an account at its next renewal.", page!(admin::plans::end)),
    get("admin.accounts.topup", "/admin/v1/accounts/{id}/topup", VIEWER, "What an account buys by itself.", page!(admin::payments::topup)),
    delete("admin.accounts.topup.remove", "/admin/v1/accounts/{id}/topup", OPERATOR, "Ends the automatic top-up of an account.", page!(admin::payments::remove_topup)),
    get("admin.products", "/admin/v1/products", VIEWER, "What accounts can buy.", page!(admin::products::list)),
    post("admin.products.create", "/admin/v1/products", OPERATOR, "A new product: quota, or a period of a plan, for money.", page!(admin::products::create))
        .example(r#"{"name":"hundred","money":990,"currency":"EUR","quota":100}"#),
    get("admin.products.show", "/admin/v1/products/{*name}", VIEWER, "One product; a `/` in its name may stand as it is or as %2F.", page!(admin::products::show)),
    patch("admin.products.change", "/admin/v1/products/{*name}", OPERATOR, "Changes a product, for payments that begin from now on.", page!(admin::products::change))
        .example(r#"{"money":1190}"#),
    delete("admin.products.remove", "/admin/v1/products/{*name}", OPERATOR, "Takes a product off sale; what was bought stays.", page!(admin::products::remove)),
    get("admin.payments", "/admin/v1/payments", VIEWER, "Payments of all accounts, the latest first.", page!(admin::payments::list)),
    get("admin.payments.mismatches", "/admin/v1/payment-mismatches", VIEWER, "Events of payments that do not fit, or are of no known payment, the latest first.", page!(admin::payments::mismatches)),
    get("admin.payments.show", "/admin/v1/payments/{id}", VIEWER, "One payment with its events and refunds.", page!(admin::payments::show)),
    post("admin.payments.confirm", "/admin/v1/payments/{id}/confirm", OPERATOR, "Confirms a payment that no provider reports, such as a bank transfer, and grants what was bought.", page!(admin::payments::confirm)),
    post("admin.payments.refund", "/admin/v1/payments/{id}/refund", OPERATOR, "Refunds money at the provider and takes back the quota that it paid for.", page!(admin::payments::refund))
        .example(r#"{"money":500}"#),
    post("admin.receipts.rotate", "/admin/v1/receipt-keys", OPERATOR, "Makes a new key for receipts; the old ones stay public.", page!(admin::receipts::rotate)),
    get("admin.vouchers", "/admin/v1/vouchers", VIEWER, "Lists batches of vouchers with the state of their codes, newest first.", page!(admin::vouchers::list)),
    post("admin.vouchers.create", "/admin/v1/vouchers", OPERATOR, "Creates a batch of vouchers; its codes are shown only once, as CSV.", page!(admin::vouchers::create))
        .example(r#"{"count":100,"amount":50,"note":"spring fair","expires":"2030-01-01","credit_days":90}"#),
    get("admin.vouchers.show", "/admin/v1/vouchers/{id}", VIEWER, "Shows one batch of vouchers.", page!(admin::vouchers::show)),
    delete("admin.vouchers.revoke", "/admin/v1/vouchers/{id}", OPERATOR, "Revokes the unredeemed codes of a batch.", page!(admin::vouchers::revoke)),
    get("admin.operators", "/admin/v1/operators", VIEWER, "Lists operators and viewers, including revoked ones.", page!(operators::list)),
    post("admin.operators.create", "/admin/v1/operators", OPERATOR, "Creates an operator or viewer; the token is shown only once.", page!(operators::create))
        .example(r#"{"name":"night-shift","role":"viewer"}"#),
    delete("admin.operators.revoke", "/admin/v1/operators/{id}", OPERATOR, "Revokes an operator's access at once.", page!(operators::revoke)),
    get("admin.prices", "/admin/v1/prices", VIEWER, "Lists every price.", page!(prices::show)),
    put("admin.prices.change", "/admin/v1/prices", OPERATOR, "Changes prices from now on.", page!(prices::change))
        .example(r#"{"artgen.imagine.fast":8}"#),
    post("admin.prices.preview", "/admin/v1/prices/preview", VIEWER, "Shows what the jobs of the last week would have cost with changed prices.", page!(prices::preview))
        .example(r#"{"artgen.imagine.fast":8}"#),
    get("admin.models", "/admin/v1/models", VIEWER, "Lists the operator's models and the settings of built-in ones.", page!(admin::models::list)),
    post("admin.models.create", "/admin/v1/models", OPERATOR, "Creates a model, or settings of a built-in one. With `?preview=true` nothing is created, and the response shows what recent jobs would have cost.", page!(admin::models::create))
        .example(r#"{"name":"seedream-4-5","like":"imgmodel/image-1","routes":[{"backend":"ark","model":"doubao-seedream-4-5"}],"price":{"unit":"item","amount":0.4}}"#),
    get("admin.models.show", "/admin/v1/models/{*name}", VIEWER, "Shows one model; write a `/` in its name as it is or as %2F.", page!(admin::models::show)),
    patch("admin.models.change", "/admin/v1/models/{*name}", OPERATOR, "Changes a model from now on and on every node; accepted jobs keep theirs. With `?preview=true` nothing is changed, and the response shows what recent jobs would have cost and which would be rejected.", page!(admin::models::change))
        .example(r#"{"price":{"unit":"item","amount":0.5},"revision":1}"#),
    delete("admin.models.remove", "/admin/v1/models/{*name}", OPERATOR, "Removes a model, or the settings of a built-in one; accepted jobs continue.", page!(admin::models::remove)),
    get("admin.groups", "/admin/v1/groups", VIEWER, "Lists the groups of accounts with their rules and numbers of accounts.", page!(groups::list)),
    post("admin.groups.create", "/admin/v1/groups", OPERATOR, "Creates a group of accounts. With `?preview=true` nothing is created, and the response shows what recent jobs would have cost.", page!(groups::create))
        .example(r#"{"name":"resellers","rules":[{"match":"*","factor":0.9},{"match":"artgen.imagine.fast","amount":3,"from":"2030-01-01"}]}"#),
    get("admin.groups.show", "/admin/v1/groups/{*name}", VIEWER, "Shows one group of accounts; write a `/` in its name as it is or as %2F.", page!(groups::show)),
    patch("admin.groups.change", "/admin/v1/groups/{*name}", OPERATOR, "Changes the rules of a group from now on and on every node; accepted jobs keep theirs. With `?preview=true` nothing is changed, and the response shows what recent jobs would have cost.", page!(groups::change))
        .example(r#"{"rules":[{"match":"*","factor":0.85}],"revision":1}"#),
    delete("admin.groups.remove", "/admin/v1/groups/{*name}", OPERATOR, "Removes a group without accounts.", page!(groups::remove)),
    get("admin.banned", "/admin/v1/banned", VIEWER, "Lists the banned words of artgen and of the families in `prompts.families`.", page!(banned::show)),
    put("admin.banned.change", "/admin/v1/banned", OPERATOR, "Replaces the banned words, from now on and on every node.", page!(banned::change))
        .example(r#"{"words":["gore","two words"]}"#),
    get("admin.vendors", "/admin/v1/vendors", VIEWER, "Lists the vendors for back ends.", page!(views::vendors)),
    get("admin.backends", "/admin/v1/backends", VIEWER, "Lists the back ends in fallback order, with their worker accounts and health.", page!(backends::list)),
    post("admin.backends.create", "/admin/v1/backends", OPERATOR, "Creates a back end; worker accounts are added to it.", page!(backends::create))
        .example(r#"{"vendor":"relay","name":"upstream","base_url":"https://media.example.com","rank":10,"operations":["artgen","facegen"]}"#),
    get("admin.backends.show", "/admin/v1/backends/{id}", VIEWER, "Shows one back end.", page!(backends::show)),
    patch("admin.backends.change", "/admin/v1/backends/{id}", OPERATOR, "Changes a back end on every node at once.", page!(backends::change))
        .example(r#"{"rank":20,"enabled":false}"#),
    delete("admin.backends.remove", "/admin/v1/backends/{id}", OPERATOR, "Removes a back end without running jobs.", page!(backends::remove)),
    post("admin.backends.probe", "/admin/v1/backends/{id}/probe", OPERATOR, "Checks at the vendor whether it is healthy and accepts the credentials.", page!(backends::probe)),
    post("admin.backends.try", "/admin/v1/backends/{id}/verify", OPERATOR, "Tries each route of a back end with one cheap job at the vendor, within a budget.", page!(backends::verify))
        .example(r#"{"spend":0.5,"plan":true}"#),
    get("admin.workers", "/admin/v1/backends/{id}/accounts", VIEWER, "Lists the worker accounts of a back end.", page!(workers::list)),
    post("admin.workers.create", "/admin/v1/backends/{id}/accounts", OPERATOR, "Creates a worker account; its credential is stored encrypted and never shown.", page!(workers::create))
        .example(r#"{"name":"first","credential":"at_secret","concurrency":5,"per_minute":30,"modes":["fast","relax"],"hours":"08:00-20:00"}"#),
    get("admin.workers.show", "/admin/v1/backends/{id}/accounts/{accountId}", VIEWER, "Shows one worker account with its health.", page!(workers::show)),
    patch("admin.workers.change", "/admin/v1/backends/{id}/accounts/{accountId}", OPERATOR, "Changes, drains or pauses a worker account.", page!(workers::change))
        .example(r#"{"state":"draining"}"#),
    delete("admin.workers.remove", "/admin/v1/backends/{id}/accounts/{accountId}", OPERATOR, "Removes a worker account without running jobs.", page!(workers::remove)),
    post("admin.workers.probe", "/admin/v1/backends/{id}/accounts/{accountId}/probe", OPERATOR, "Checks one worker account at its vendor.", page!(backends::probe)),
    get("admin.jobs", "/admin/v1/jobs", VIEWER, "Lists jobs of all accounts.", page!(views::jobs)),
    get("admin.jobs.trail", "/admin/v1/jobs/{jobId}/trail", VIEWER, "Shows what happened to a job of any account, including the worker accounts that were tried.", page!(views::trail)),
    post("admin.jobs.cancel", "/admin/v1/jobs/{jobId}/cancel", OPERATOR, "Cancels an unfinished job of any account; its quota is returned.", page!(views::cancel)),
    get("admin.usage", "/admin/v1/usage", VIEWER, "Shows the consumed quota of an account, as `/account/v1/usage` does.", page!(views::usage)),
    get("admin.ledger", "/admin/v1/ledger", VIEWER, "Lists movements of quota of all accounts.", page!(views::ledger)),
    get("admin.callbacks", "/admin/v1/callbacks", VIEWER, "Lists callbacks of all accounts.", page!(views::callbacks)),
    get("admin.audit", "/admin/v1/audit", VIEWER, "Lists the acts of operators.", page!(views::audit)),
    get("admin.stats", "/admin/v1/stats", VIEWER, "Shows the current work of the service.", page!(views::stats)),
    get("admin.overview", "/admin/v1/overview", VIEWER, "Shows the last hour at a glance.", page!(views::overview)),
    get("admin.nodes", "/admin/v1/nodes", VIEWER, "Lists the nodes that share the database.", page!(views::nodes)),

    post("mcp", "/mcp", SUBMIT, "Takes messages of agents (Model Context Protocol over streamable HTTP); `?tools=` selects tools.", page!(mcp::answer)).under_own_names()
        .example(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#),
    post("hooks.take", "/hooks/v1/{backendId}/{token}", OPEN, "Takes a vendor's webhook; the token in the path authenticates it, with a signature if the vendor signs.", page!(hooks::take)),
    get("hooks.pay", "/hooks/pay/{provider}", OPEN, "A payment provider reports an event; one without its signature is rejected.", page!(payments::take)).by(EITHER),
    get("assets", "/assets/{*path}", OPEN, "Serves a result file; the URL itself is signed.", page!(assets::serve)).at(PageListeners::Files),
    get("thumbs", "/thumbs/{*path}", OPEN, "Serves a thumbnail of a result file; the URL itself is signed.", page!(assets::thumbnail)).at(PageListeners::Files),
    get("links.open", "/shared/{linkId}", OPEN, "Serves the file of a link; the URL itself is signed.", page!(links::open)).at(PageListeners::Files),
    get("home", "/", OPEN, "Lists the service's entry points; browsers are redirected to the console.", page!(home::show)),
    get("healthz", "/healthz", OPEN, "Reports whether the process responds.", page!(health::alive)).at(PageListeners::Every),
    get("readyz", "/readyz", OPEN, "Reports whether the service can accept jobs.", page!(health::ready)).at(PageListeners::Every),
    get("metrics", "/metrics", VIEWER, "Serves metrics; no token is needed on a loopback listener of its own or while the service is not public.", page!(metrics::show)).at(PageListeners::Metrics).under_own_names(),
    get("receipts.keys", "/.well-known/atelier-receipts", OPEN, "The public keys of receipts, as a JSON Web Key Set.", page!(service::receipts::keys)),
    get("openapi", "/openapi.json", OPEN, "Serves this document.", page!(docs::document)),
    get("docs", "/docs", OPEN, "Serves this document for people.", page!(docs::page)),
    get("docs.pages", "/docs/{*path}", OPEN, "Serves its pages and the guides.", page!(docs::page)),
    get("console", "/console/", OPEN, "Serves the console.", page!(files::serve)).under_own_names(),
    get("console.bare", "/console", OPEN, "Redirects to the console.", page!(files::lead)).under_own_names(),
    get("console.files", "/console/{*path}", OPEN, "Serves the console's pages and files.", page!(files::serve)).under_own_names(),
    get("console.session", "/console/session", OPEN, "Shows who is signed in to the console.", page!(session::show)).under_own_names(),
    post("console.session.open", "/console/session", OPEN, "Signs in to the console with a key, an operator token or a link.", page!(session::open)).under_own_names()
        .example(r#"{"secret":"at_…"}"#),
    delete("console.session.close", "/console/session", OPEN, "Signs out of the console, here or everywhere.", page!(session::close)).under_own_names(),
];
