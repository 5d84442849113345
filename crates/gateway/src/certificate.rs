//! How long a certificate is good for: the one date is read, nothing else of it is judged here.

use std::path::Path;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Tags of the DER values that are read or skipped.
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const SHORT_TIME: u8 = 0x17;
const LONG_TIME: u8 = 0x18;

/// Days until the first certificate of a file is over.
pub(crate) fn days_left(file: &Path, now_ms: i64) -> Option<i64> {
    days_left_of(&CertificateDer::from_pem_file(file).ok()?, now_ms)
}

/// Days until the first certificate of a text is over.
pub(crate) fn days_left_in(text: &str, now_ms: i64) -> Option<i64> {
    days_left_of(
        &CertificateDer::from_pem_slice(text.as_bytes()).ok()?,
        now_ms,
    )
}

/// When the first certificate of a file is over.
pub(crate) fn over_ms_of(file: &Path) -> Option<i64> {
    over_ms(&CertificateDer::from_pem_file(file).ok()?)
}

fn days_left_of(certificate: &[u8], now_ms: i64) -> Option<i64> {
    Some((over_ms(certificate)? - now_ms).div_euclid(DAY_MS))
}

/// When a certificate is over: the second time of its validity.
fn over_ms(der: &[u8]) -> Option<i64> {
    let (_, certificate, _) = part(der)?;
    let (_, mut inside, _) = part(certificate)?;
    if *inside.first()? == VERSION {
        inside = part(inside)?.2;
    }
    // Serial number, algorithm, issuer.
    for _ in 0..3 {
        inside = part(inside)?.2;
    }
    let (tag, validity, _) = part(inside)?;
    let (_, _, after_begin) = part(validity)?;
    let (kind, text, _) = part(after_begin)?;
    (tag == SEQUENCE).then_some(())?;
    time_ms(kind, std::str::from_utf8(text).ok()?)
}

/// The tag, content and rest of the first part.
fn part(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, mut rest) = rest.split_first()?;
    let mut length = usize::from(first);
    if first >= 0x80 {
        let count = usize::from(first & 0x7f);
        let digits = rest.get(..count).filter(|_| count <= 4)?;
        length = digits
            .iter()
            .fold(0, |sum, digit| sum << 8 | usize::from(*digit));
        rest = &rest[count..];
    }
    Some((tag, rest.get(..length)?, rest.get(length..)?))
}

/// Milliseconds since 1970 of `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn time_ms(kind: u8, text: &str) -> Option<i64> {
    let (year, rest) = match kind {
        SHORT_TIME => {
            let year: i16 = text.get(..2)?.parse().ok()?;
            (
                if year < 50 { 2000 + year } else { 1900 + year },
                text.get(2..)?,
            )
        }
        LONG_TIME => (text.get(..4)?.parse().ok()?, text.get(4..)?),
        _ => return None,
    };
    let two = |place: usize| rest.get(place..place + 2)?.parse::<i8>().ok();
    let (month, day) = (two(0)?, two(2)?);
    let (hour, minute, second) = (two(4)?, two(6)?, two(8)?);
    let time = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    let time = time.to_zoned(TimeZone::UTC).ok()?;
    Some(time.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_read() {
        let mut params =
            rcgen::CertificateParams::new(["localhost".to_owned()]).expect("parameters");
        params.not_after = rcgen::date_time_ymd(2031, 3, 1);
        let key = rcgen::KeyPair::generate().expect("a key");
        let made = params.self_signed(&key).expect("a certificate");
        assert_eq!(over_ms(made.der()), time_ms(SHORT_TIME, "310301000000Z"));
        assert_eq!(
            time_ms(LONG_TIME, "20310301000000Z"),
            Some(1_930_089_600_000)
        );
        assert_eq!(time_ms(SHORT_TIME, "700101000001Z"), Some(1000));
        assert_eq!(time_ms(SHORT_TIME, "701301000001Z"), None, "no such month");
    }
}
