//! Bytes as hexadecimal digits, and back.

/// Two digits for each byte, in lower case.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
    bytes.iter().flat_map(digits).collect()
}

/// The bytes of such a text; `None` for any other, and for an empty one.
pub(crate) fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = hex
        .chars()
        .map(|digit| digit.to_digit(16).map(|value| value as u8))
        .collect();
    let digits = digits?;
    let (pairs, rest) = digits.as_chunks::<2>();
    let whole = !pairs.is_empty() && rest.is_empty();
    whole.then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}
