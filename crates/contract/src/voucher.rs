//! Codes that are worth quota: 15 characters of Crockford's base 32 that nobody can guess, and one that tells a slip of the pen.

use std::fmt;

/// Crockford's base 32: no letter that looks like a digit, and no U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters that are drawn.
pub const DRAWN: usize = 15;
/// Characters in a group.
const GROUP: usize = 4;

/// A code as it is written on a voucher.
#[derive(Clone, PartialEq, Eq)]
pub struct VoucherCode([u8; DRAWN + 1]);

/// Why something is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotACode {
    /// It is too long or too short, or has a character that no code has.
    Shape,
    /// Its last character does not fit the others.
    Slip,
}

impl VoucherCode {
    /// A code of drawn bytes, of which each gives a character.
    pub fn of(drawn: [u8; DRAWN]) -> Self {
        let mut values = [0; DRAWN + 1];
        for (value, byte) in values.iter_mut().zip(drawn) {
            *value = byte % 32;
        }
        values[DRAWN] = check(&values[..DRAWN]);
        Self(values)
    }

    /// Reads a code as people write it: in any case, with or without dashes and spaces, an O for a 0, an I or L for a 1.
    pub fn read(text: &str) -> Result<Self, NotACode> {
        let mut values = [0; DRAWN + 1];
        let mut count = 0;
        for letter in text.chars() {
            if letter.is_whitespace() || letter == '-' {
                continue;
            }
            let value = value_of(letter).ok_or(NotACode::Shape)?;
            *values.get_mut(count).ok_or(NotACode::Shape)? = value;
            count += 1;
        }
        if count != DRAWN + 1 {
            return Err(NotACode::Shape);
        }
        if check(&values[..DRAWN]) != values[DRAWN] {
            return Err(NotACode::Slip);
        }
        Ok(Self(values))
    }

    /// Its characters without dashes.
    pub fn plain(&self) -> String {
        let letters = self.0.iter().map(|value| letter_of(*value));
        letters.collect()
    }
}

impl fmt::Display for VoucherCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, value) in self.0.iter().enumerate() {
            if place > 0 && place % GROUP == 0 {
                f.write_str("-")?;
            }
            write!(f, "{}", letter_of(*value))?;
        }
        Ok(())
    }
}

impl fmt::Debug for VoucherCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VoucherCode(…)")
    }
}

fn letter_of(value: u8) -> char {
    char::from(ALPHABET[usize::from(value)])
}

fn value_of(letter: char) -> Option<u8> {
    let letter = match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        letter => letter,
    };
    let found = ALPHABET.iter().position(|one| char::from(*one) == letter);
    found.map(|value| value as u8)
}

/// Luhn's check character for an alphabet of 32.
fn check(values: &[u8]) -> u8 {
    let sum: u32 = values
        .iter()
        .rev()
        .enumerate()
        .map(|(place, value)| {
            let addend = u32::from(*value) * if place % 2 == 0 { 2 } else { 1 };
            addend / 32 + addend % 32
        })
        .sum();
    ((32 - sum % 32) % 32) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u8) -> [u8; DRAWN] {
        std::array::from_fn(|place| seed.wrapping_mul(37).wrapping_add(place as u8 * 11))
    }

    #[test]
    fn a_code_is_read_as_people_write_it() {
        for seed in 0..=255 {
            let code = VoucherCode::of(drawn(seed));
            let written = code.to_string();
            assert_eq!(written.len(), 19);
            assert_eq!(written.replace('-', ""), code.plain());
            let forms = [
                written.clone(),
                written.to_lowercase(),
                written.replace('-', " "),
                format!(" {} ", code.plain()),
                written.replace('0', "O").replace('1', "l"),
                written.replace('0', "o").replace('1', "I"),
            ];
            for form in forms {
                assert_eq!(VoucherCode::read(&form), Ok(code.clone()), "{form}");
            }
        }
    }

    /// The promise: one wrong character is always noticed, and two that changed places nearly always.
    #[test]
    fn a_slip_of_the_pen_is_noticed() {
        let (mut swaps, mut missed) = (0, 0);
        for seed in 0..100 {
            let code = VoucherCode::of(drawn(seed));
            let plain: Vec<char> = code.plain().chars().collect();
            for place in 0..plain.len() {
                for letter in ALPHABET.iter().map(|one| char::from(*one)) {
                    let mut wrong = plain.clone();
                    if wrong[place] != letter {
                        wrong[place] = letter;
                        let wrong: String = wrong.iter().collect();
                        assert_eq!(VoucherCode::read(&wrong), Err(NotACode::Slip), "{wrong}");
                    }
                }
                if place > 0 && plain[place] != plain[place - 1] {
                    let mut wrong = plain.clone();
                    wrong.swap(place, place - 1);
                    swaps += 1;
                    missed += i32::from(VoucherCode::read(&String::from_iter(wrong)).is_ok());
                }
            }
        }
        assert!(missed * 100 < swaps, "{missed} of {swaps}");
    }

    #[test]
    fn what_is_no_code_is_told_from_a_slip() {
        for wrong in [
            "",
            "ABCD",
            "UUUU-UUUU-UUUU-UUUU",
            "0000-0000-0000-0000-0",
            "ä",
            "0000000000000000\u{0}",
        ] {
            assert_eq!(VoucherCode::read(wrong), Err(NotACode::Shape), "{wrong}");
        }
        assert!(VoucherCode::read("0000-0000-0000-0000").is_ok());
        assert_eq!(
            format!("{:?}", VoucherCode::of([7; DRAWN])),
            "VoucherCode(…)"
        );
    }
}
