//! The service's own pages, from their table.

use schemars::SchemaGenerator;

use super::operation::{ApiOperation, ResponseKind, continued, envelope, paged, twin_name};
use crate::pages::{Method, Page, PageOutput, SchemaFn, group_of};

/// Every page with each of its methods.
pub(super) fn operations<H>(
    pages: &[Page<H>],
    generator: &mut SchemaGenerator,
) -> Vec<ApiOperation> {
    let mut all = Vec::new();
    for page in pages {
        for (place, method) in page.methods.iter().enumerate() {
            all.push(operation(page, *method, place == 0, generator));
        }
    }
    all
}

fn operation<H>(
    page: &Page<H>,
    method: Method,
    first: bool,
    generator: &mut SchemaGenerator,
) -> ApiOperation {
    let mut described = |describe: SchemaFn| describe(generator).to_value();
    let reads_query = matches!(method, Method::Get | Method::Delete);
    let query = page.takes.query.filter(|_| reads_query);
    let body = page.takes.body.filter(|_| !reads_query);
    let example = page
        .example
        .filter(|_| body.is_some())
        .and_then(|text| serde_json::from_str(text).ok());
    ApiOperation {
        name: if first {
            page.name.to_owned()
        } else {
            twin_name(page.name, method)
        },
        twin_of: (!first).then(|| page.name.to_owned()),
        group: group_of(page.name),
        method,
        path: page.path.replace("{*", "{"),
        access: page.access,
        summary: page.summary.into(),
        deprecated: false,
        query: query.map(|fields| described(fields.schema)),
        body: body.map(|fields| described(fields.schema)),
        form: page.takes.form.filter(|_| !reads_query).map(&mut described),
        example,
        idempotent: page.idempotent,
        order: page
            .takes
            .body
            .filter(|_| !reads_query)
            .map_or(&[], |body| (body.order)()),
        makes: None,
        pending: None,
        streams: false,
        callback: None,
        answer: match page.gives {
            PageOutput::Data(data) => ResponseKind::Json(envelope(&described(data))),
            PageOutput::List(item) => ResponseKind::Json(paged(&described(item))),
            PageOutput::Continued(item) => ResponseKind::Json(continued(&described(item))),
            PageOutput::Json(whole) => ResponseKind::Json(described(whole)),
            PageOutput::Later(pending) => ResponseKind::Later(described(pending)),
            PageOutput::Events => ResponseKind::Events,
            PageOutput::Messages => ResponseKind::Messages,
            PageOutput::Media(media) => ResponseKind::Media(media),
        },
    }
}
