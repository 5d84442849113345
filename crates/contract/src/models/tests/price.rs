//! Amounts are exact and rounded up once.

use serde_json::{Value, json};

use super::{catalogue, fields, ordered, picture_model, video_model};
use crate::Quota;
use crate::brief::{Brief, Task};
use crate::models::UnitPrice;

fn price(value: Value) -> UnitPrice {
    serde_json::from_value(value).expect("a price")
}

fn total(value: Value, brief: &Brief, asked: Value) -> String {
    let total = price(value).total("mine", &fields(asked), brief);
    total.expect("a total").total.to_string()
}

fn brief(count: u32, size: (u32, u32), seconds: u32) -> Brief {
    let mut brief = Brief::new(Task::Draw).times(count).sized(size);
    brief.seconds = seconds;
    brief
}

#[test]
fn each_unit_counts_what_it_says() {
    let asked = json!({});
    let brief = brief(3, (1000, 500), 7);
    for (unit, wanted) in [
        ("call", "2"),
        ("item", "6"),
        ("second", "42"),
        ("megapixel", "3"),
    ] {
        let price = json!({ "unit": unit, "amount": 2 });
        assert_eq!(total(price, &brief, asked.clone()), wanted, "{unit}");
    }
}

#[test]
fn a_megapixel_is_a_million_pixels_and_auto_is_a_square() {
    let price = json!({ "unit": "megapixel", "amount": 1 });
    assert_eq!(
        total(price.clone(), &brief(1, (1024, 1024), 0), json!({})),
        "1.049"
    );
    assert_eq!(
        total(price.clone(), &brief(2, (1024, 1024), 0), json!({})),
        "2.098"
    );
    assert_eq!(total(price, &brief(1, (0, 0), 0), json!({})), "1.049");
}

#[test]
fn what_has_no_length_is_not_free() {
    let price = json!({ "unit": "second", "amount": 0.5 });
    assert_eq!(total(price, &brief(1, (0, 0), 0), json!({})), "0.5");
}

#[test]
fn rounding_is_up_and_once() {
    let price = json!({ "unit": "item", "amount": 0.001, "factors": { "a": { "x": 0.5 }, "b": { "y": 0.5 } } });
    let asked = json!({ "a": "x", "b": "y" });
    // 0.001 x 0.25 x 4 is 0.001 exactly; rounding each step would make it more.
    assert_eq!(
        total(price.clone(), &brief(4, (1, 1), 0), asked.clone()),
        "0.001"
    );
    assert_eq!(
        total(price.clone(), &brief(1, (1, 1), 0), asked.clone()),
        "0.001"
    );
    assert_eq!(total(price, &brief(5, (1, 1), 0), asked), "0.002");
}

#[test]
fn a_word_is_priced_however_it_is_spelt_and_never_left_out() {
    let price =
        json!({ "unit": "call", "amount": 1, "factors": { "seconds": { "5": 2, "10": 3 } } });
    let brief = brief(1, (1, 1), 5);
    for asked in [json!(5), json!("5"), json!("5s"), json!(5.0)] {
        assert_eq!(
            total(price.clone(), &brief, json!({ "seconds": asked })),
            "2"
        );
    }
    assert_eq!(total(price.clone(), &brief, json!({})), "1");
    let unpriced = self::price(price).total("mine", &fields(json!({ "seconds": 7 })), &brief);
    assert_eq!(unpriced.expect_err("no factor").code, crate::Code::Internal);
}

/// The same as a sum of rationals with a common denominator, for many prices.
#[test]
fn a_total_is_the_exact_product_rounded_up() {
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut random = |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % most
    };
    for _ in 0..5000 {
        let amount = random(1_000_000) as i64;
        let (one, two) = (random(100_001) as i64, random(5000) as i64);
        let (count, side) = (random(10) as u32 + 1, random(8000) as u32 + 64);
        let price = UnitPrice {
            unit: crate::models::PriceUnit::Megapixel,
            amount: Quota::from_thousandths(amount),
            factors: [("a", one), ("b", two)]
                .map(|(field, factor)| {
                    let factor = Quota::from_thousandths(factor);
                    (field.to_owned(), [("w".to_owned(), factor)].into())
                })
                .into(),
        };
        let brief = brief(count, (side, 640), 0);
        let found = price.total("m", &fields(json!({ "a": "w", "b": "w" })), &brief);
        let above = [amount, one, two, i64::from(count), i64::from(side), 640]
            .iter()
            .map(|part| i128::from(*part))
            .product::<i128>();
        let below: i128 = 1000 * 1000 * 1_000_000;
        let wanted = (above + below - 1) / below;
        match found {
            Ok(found) => {
                assert_eq!(i128::from(found.total.thousandths()), wanted);
                let line = &found.lines[0];
                let shown = line.count * line.factor * amount as f64;
                assert!((shown - above as f64 / below as f64).abs() <= shown.abs() * 1e-9 + 1e-9);
            }
            Err(_) => assert!(wanted > i128::from(Quota::MOST.thousandths())),
        }
    }
}

#[test]
fn the_largest_price_that_can_be_written_does_not_overflow() {
    let words = json!({ "w": 100 });
    let price = json!({ "unit": "megapixel", "amount": 1_000_000, "factors": { "a": words, "b": words, "c": words, "d": words } });
    let asked = fields(json!({ "a": "w", "b": "w", "c": "w", "d": "w" }));
    let refusal = self::price(price).total("m", &asked, &brief(10, (8192, 4096), 0));
    let refusal = refusal.expect_err("too large");
    assert_eq!(refusal.code, crate::Code::InvalidParameter);
}

#[test]
fn an_order_has_the_price_of_its_model_with_its_lines() {
    let whole = catalogue([picture_model(), video_model()]);
    let (order, _) = ordered(
        &whole,
        "imgmodel.generations",
        json!({ "model": "seedream", "prompt": "a fox", "n": 3 }),
        None,
    )
    .expect("an order");
    let price = order.catalogue_price.expect("a price");
    assert_eq!(price.total.to_string(), "13.5");
    assert_eq!(
        serde_json::to_value(&price.lines).expect("lines"),
        json!([{ "line": "Seedream-4.5 (size 2048x2048)", "unit": "item", "count": 3.0, "amount": 3, "factor": 1.5 }])
    );
    let (order, _) = ordered(
        &whole,
        "vidgen_partner.generations",
        json!({ "model": "kling/v3", "prompt": "a fox", "seconds": "15", "size": "1920x1080" }),
        None,
    )
    .expect("an order");
    // 0.3 x 2.25 x 15
    assert_eq!(
        order.catalogue_price.expect("a price").total.to_string(),
        "10.125"
    );
}
