//! The ways in which vendors say that they do not have a model, or not for this worker account. Hardly two of them agree on
//! the status or the code.

/// Codes, each a word of its own.
const CODES: &[&str] = &[
    "deploymentnotfound",
    "invalid_model",
    "key_model_access_denied",
    "model_access_denied",
    "model_not_available",
    "model_not_exist",
    "model_not_found",
    "model_not_supported",
    "modelnotfound",
    "modelnotopen",
    "project_model_access_denied",
    "team_model_access_denied",
    "unknown_model",
    "unsupported_model",
    "unsupportedmodel",
];
/// What vendors call the field. A caller does not set it: what is wrong with it is the operator's matter.
const FIELDS: &[&str] = &[
    "configid",
    "model",
    "model_id",
    "model_name",
    "modelid",
    "modelname",
];
/// What is said before the name of a model, or without it.
const BEFORE: &[&str] = &[
    "access model",
    "access to model",
    "access to the model",
    "invalid model",
    "invalid version or not permitted",
    "no such model",
    "unknown model",
    "unsupported model",
    "verified to stream this model",
    "verified to use the model",
    "verified to use this model",
    "version does not exist",
];
/// What is said of a model after its name.
const AFTER: &[&str] = &[
    "could not be found",
    "does not exist",
    "has been deprecated",
    "has been retired",
    "is deprecated",
    "is invalid",
    "is no longer available",
    "is no longer supported",
    "is not available",
    "is not found",
    "is not supported",
    "is not valid",
    "must be one of",
    "not available",
    "not exist",
    "not found",
    "not open",
    "not supported",
    "was not found",
];
/// The words that may stand between: "the model or endpoint x does not exist".
const MOST_BETWEEN: usize = 3;

/// Whether a code says so.
pub(super) fn is_code(code: &str) -> bool {
    let code = code.to_lowercase();
    // Some hang more about it behind a dot.
    let mut words = code.split([' ', '.', ':', '/']);
    words.any(|word| CODES.contains(&word)) || code.contains("endpointormodel")
}

/// Whether a field is the one for the model.
pub(super) fn is_field(param: &str) -> bool {
    let param = param.to_lowercase();
    param
        .rsplit(['.', '/'])
        .next()
        .is_some_and(|name| FIELDS.contains(&name))
}

/// Whether an explanation in lower case says so, outside of what it quotes: that may be the caller's.
pub(super) fn is_said(text: &str) -> bool {
    let plain = unquoted(text);
    if BEFORE.iter().any(|phrase| plain.contains(phrase)) {
        return true;
    }
    let words: Vec<&str> = plain.split(' ').collect();
    let is_model = |word: &str| {
        let word = word.trim_matches([':', ',', '.', '(']);
        matches!(word, "model" | "models") || word.starts_with("models/")
    };
    let after = |at: usize| {
        let ends = at + 1..(at + 2 + MOST_BETWEEN).min(words.len());
        ends.into_iter().any(|from| {
            let rest = words[from..].join(" ");
            AFTER.iter().any(|phrase| rest.starts_with(phrase))
        })
    };
    (0..words.len()).any(|at| is_model(words[at]) && after(at))
}

/// A text without what stands in quotes, and with single spaces.
fn unquoted(text: &str) -> String {
    let mut plain = String::new();
    let mut open: Option<char> = None;
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        match open {
            Some(quote) if c == quote && (c != '\'' || !next.is_alphanumeric()) => open = None,
            Some(_) => {}
            // An apostrophe inside a word is no quote.
            None if matches!(c, '"' | '`') || (c == '\'' && !before.is_alphanumeric()) => {
                open = Some(c);
            }
            None if c.is_whitespace() => {
                if !plain.ends_with(' ') {
                    plain.push(' ');
                }
            }
            None => plain.push(c),
        }
        before = c;
    }
    if open.is_some() {
        // A quote without its end is none.
        return text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    plain.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_saying_it_is_understood() {
        for text in [
            "The model 'gpt-image-9' does not exist.",
            "The model `x` does not exist or you do not have access to it.",
            "The model grok-9 does not exist or your team 12 does not have access to it.",
            "/images/generations: Invalid model name passed in model=nothing. Call `/v1/models` to view available models.",
            "The requested model 'denied' is not available for this API key",
            "Your organization must be verified to use the model `gpt-image-2`. Please go to: https://x.example",
            "400 Your organization must be verified to stream this model.",
            "Project `proj_1` does not have access to model `gpt-image-2`",
            "Invalid version or not permitted The specified version does not exist (or perhaps you don't have permission?)",
            "The model or endpoint seedance-9 does not exist or you do not have access to it.",
            "Model not exist.",
            "invalid params, unknown model 'MiniMax-H9'",
            "models/gemini-9 is not found for API version v1beta",
            "model must be one of the following values: a, b",
            "This model models/gemini-9 is no longer available.",
            "kling-v1-6 model is not supported",
        ] {
            assert!(is_said(&text.to_lowercase()), "{text}");
        }
    }

    #[test]
    fn what_a_caller_wrote_and_what_is_about_something_else_is_not() {
        for text in [
            "The prompt \"a model that does not exist\" is too long",
            "Size 100x100 is not supported for this model",
            "The field 'unknown model' in the prompt isn't allowed",
            "Invalid value: 'huge'. Supported values are: 'low', 'high'.",
            "The model is overloaded. Please try again later.",
            "It doesn't work: can't find the picture",
        ] {
            assert!(!is_said(&text.to_lowercase()), "{text}");
        }
        assert!(!is_code("model_error") && !is_field("model_options.size"));
        assert!(is_code("ModelNotOpen") && is_code("InvalidEndpointOrModel.NotFound"));
        assert!(is_field("model") && is_field("body.modelId"));
    }
}
