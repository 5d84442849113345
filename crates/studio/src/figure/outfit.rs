//! Neck, shoulders and clothes.

use super::body::bow;
use super::drawing::{Drawing, Shade};
use super::stance;
use super::traits::{Outfit, Pose, Traits};
use crate::paint::colour::{hex, luma, mix, scale};
use crate::subject::build::{blob, both, limb, oval, shape};

/// Neck and shoulders in their clothes.
pub(crate) fn outfit(all: &mut Drawing, t: &Traits) {
    let shade = mix(scale(t.skin, 0.82), hex(0xb0506a), 0.16);
    let wide = if t.boyish { 98.0 } else { 84.0 };
    let whole = t.pose == Pose::Full;
    let torso = if whole {
        both(&stance::torso(t))
    } else {
        both(&[
            (14.0, 76.0),
            (48.0, 92.0),
            (wide, 112.0),
            (wide + 10.0, 170.0),
            (wide + 14.0, 300.0),
        ])
    };
    let bare = t.outfit == Outfit::Dress;
    let cloth = if bare { t.skin } else { t.cloth };
    all.shaded(
        blob(&torso),
        Shade {
            from: cloth,
            to: scale(cloth, 0.72),
            top: 90.0,
            bottom: 260.0,
        },
    );
    all.part(
        blob(&both(&[
            (15.0, 40.0),
            (15.0, 74.0),
            (24.0, 92.0),
            (8.0, 108.0),
        ])),
        t.skin,
    );
    all.soft(
        blob(&[
            (-15.0, 52.0),
            (15.0, 52.0),
            (16.0, 70.0),
            (4.0, 80.0),
            (-14.0, 72.0),
        ]),
        shade,
    );
    match t.outfit {
        Outfit::Uniform => uniform(all, t),
        Outfit::Hoodie => hoodie(all, t),
        Outfit::Kimono => kimono(all, t),
        Outfit::Armour => armour(all, t),
        Outfit::Dress => dress(all, t),
        Outfit::Suit => suit(all, t),
    }
    if whole {
        stance::before(all, t);
        return;
    }
    for side in [-1.0_f32, 1.0] {
        all.soft(
            limb(&[
                (side * (wide - 22.0), 150.0, 0.6),
                (side * (wide - 26.0), 230.0, 1.6),
            ]),
            scale(cloth, 0.55),
        );
    }
}

fn uniform(all: &mut Drawing, t: &Traits) {
    let white = mix(hex(0xf7f5f2), t.cloth, 0.06);
    let shirt = match t.pose {
        Pose::Full => stance::torso(t),
        Pose::Bust => vec![
            (16.0, 88.0),
            (48.0, 98.0),
            (80.0, 116.0),
            (86.0, 180.0),
            (88.0, 300.0),
        ],
    };
    all.shaded(
        blob(&both(&shirt)),
        Shade {
            from: white,
            to: scale(white, 0.8),
            top: 90.0,
            bottom: 280.0,
        },
    );
    for side in [-1.0_f32, 1.0] {
        let collar = [
            (side * 15.0, 80.0),
            (side * 40.0, 92.0),
            (side * 66.0, 112.0),
            (side * 54.0, 142.0),
            (side * 5.0, 132.0),
        ];
        all.part(shape(&collar), t.cloth);
        all.soft(
            limb(&[
                (side * 60.0, 116.0, 1.1),
                (side * 50.0, 136.0, 1.1),
                (side * 10.0, 127.0, 1.1),
            ]),
            hex(0xffffff),
        );
    }
    all.soft(shape(&[(-13.0, 86.0), (13.0, 86.0), (0.0, 116.0)]), t.skin);
    bow(all, (0.0, 132.0), 0.95, t);
}

fn hoodie(all: &mut Drawing, t: &Traits) {
    let inner = scale(t.cloth, 0.6);
    all.part(
        blob(&both(&[
            (12.0, 74.0),
            (44.0, 72.0),
            (60.0, 92.0),
            (40.0, 118.0),
            (10.0, 128.0),
        ])),
        scale(t.cloth, 0.92),
    );
    all.part(
        blob(&both(&[
            (10.0, 80.0),
            (32.0, 84.0),
            (30.0, 100.0),
            (8.0, 114.0),
        ])),
        inner,
    );
    all.soft(
        blob(&both(&[(10.0, 70.0), (15.0, 84.0), (6.0, 100.0)])),
        t.skin,
    );
    for side in [-1.0_f32, 1.0] {
        all.part(
            limb(&[
                (side * 16.0, 116.0, 1.6),
                (side * 19.0, 150.0, 1.6),
                (side * 17.0, 172.0, 2.2),
            ]),
            hex(0xf4f1ea),
        );
    }
    let mark = if luma(t.cloth) > 0.6 {
        scale(t.cloth, 0.7)
    } else {
        mix(t.cloth, [1.0, 1.0, 1.0], 0.5)
    };
    all.soft(oval(0.0, 190.0, 20.0, 20.0), mark);
}

fn kimono(all: &mut Drawing, t: &Traits) {
    let light = mix(t.cloth, [1.0, 1.0, 1.0], 0.75);
    for (x, y) in [
        (-66.0, 150.0),
        (62.0, 170.0),
        (-40.0, 210.0),
        (70.0, 220.0),
        (-78.0, 230.0),
    ] {
        for k in 0..5 {
            let (sin, cos) = (k as f32 * 1.2566).sin_cos();
            all.soft(
                oval(x + cos * 6.0, y + sin * 6.0, 4.4, 4.4),
                mix(light, hex(0xf28aa8), 0.4),
            );
        }
        all.soft(oval(x, y, 2.6, 2.6), hex(0xf2d060));
    }
    all.part(
        shape(&[(20.0, 74.0), (38.0, 84.0), (-14.0, 214.0), (-40.0, 214.0)]),
        light,
    );
    all.part(
        shape(&[(-20.0, 74.0), (-38.0, 84.0), (16.0, 214.0), (44.0, 214.0)]),
        mix(light, t.cloth, 0.3),
    );
    all.part(
        shape(&[(-76.0, 206.0), (76.0, 206.0), (80.0, 300.0), (-80.0, 300.0)]),
        mix(t.cloth, hex(0xc8384a), 0.55),
    );
    all.part(
        shape(&[(-78.0, 240.0), (78.0, 240.0), (79.0, 252.0), (-79.0, 252.0)]),
        hex(0xe8c25a),
    );
}

fn armour(all: &mut Drawing, t: &Traits) {
    let steel = mix(hex(0xb4bcc8), t.cloth, 0.25);
    all.shaded(
        blob(&both(&[
            (10.0, 110.0),
            (50.0, 106.0),
            (66.0, 150.0),
            (54.0, 220.0),
            (60.0, 300.0),
        ])),
        Shade {
            from: mix(steel, [1.0, 1.0, 1.0], 0.4),
            to: scale(steel, 0.6),
            top: 100.0,
            bottom: 280.0,
        },
    );
    all.part(
        blob(&both(&[
            (16.0, 70.0),
            (30.0, 80.0),
            (34.0, 104.0),
            (6.0, 118.0),
        ])),
        steel,
    );
    for side in [-1.0_f32, 1.0] {
        for (k, tone) in [(2.0_f32, 0.7), (1.0, 0.85), (0.0, 1.0)] {
            all.part(
                blob(&[
                    (side * 52.0, 100.0 + k * 18.0),
                    (side * 92.0, 98.0 + k * 20.0),
                    (side * 108.0, 128.0 + k * 20.0),
                    (side * 70.0, 138.0 + k * 18.0),
                ]),
                scale(steel, tone),
            );
        }
    }
    all.part(
        shape(&[(0.0, 136.0), (13.0, 156.0), (0.0, 184.0), (-13.0, 156.0)]),
        mix(t.eyes, hex(0xffffff), 0.2),
    );
}

fn dress(all: &mut Drawing, t: &Traits) {
    let mut bodice = vec![(4.0, 150.0), (30.0, 138.0), (56.0, 136.0), (64.0, 180.0)];
    bodice.extend(match t.pose {
        Pose::Full => [(54.0, 240.0), (46.0, 276.0)],
        Pose::Bust => [(58.0, 240.0), (70.0, 300.0)],
    });
    all.shaded(
        blob(&both(&bodice)),
        Shade {
            from: t.cloth,
            to: scale(t.cloth, 0.72),
            top: 130.0,
            bottom: 280.0,
        },
    );
    let frill = mix(t.cloth, [1.0, 1.0, 1.0], 0.7);
    for k in -4..=4 {
        let x = k as f32 * 13.0;
        all.part(oval(x, 142.0 + (x * 0.05).cos() * 3.0, 8.0, 6.0), frill);
    }
    for side in [-1.0_f32, 1.0] {
        all.part(
            limb(&[(side * 46.0, 138.0, 3.0), (side * 40.0, 98.0, 3.0)]),
            t.cloth,
        );
        all.soft(
            limb(&[(side * 12.0, 108.0, 0.8), (side * 34.0, 104.0, 0.8)]),
            scale(t.skin, 0.72),
        );
    }
    all.part(
        limb(&[(-15.0, 78.0, 2.2), (0.0, 84.0, 2.2), (15.0, 78.0, 2.2)]),
        scale(t.cloth, 0.7),
    );
    all.part(oval(0.0, 89.0, 4.0, 5.0), mix(t.eyes, hex(0xffffff), 0.25));
}

fn suit(all: &mut Drawing, t: &Traits) {
    all.part(
        shape(&[(-24.0, 84.0), (24.0, 84.0), (30.0, 300.0), (-30.0, 300.0)]),
        hex(0xf6f4f0),
    );
    all.part(
        shape(&[
            (-7.0, 104.0),
            (7.0, 104.0),
            (11.0, 240.0),
            (0.0, 256.0),
            (-11.0, 240.0),
        ]),
        mix(hex(0xb03048), t.eyes, 0.35),
    );
    for side in [-1.0_f32, 1.0] {
        all.part(
            shape(&[
                (side * 14.0, 76.0),
                (side * 28.0, 84.0),
                (side * 22.0, 108.0),
                (side * 4.0, 104.0),
            ]),
            hex(0xffffff),
        );
        let lapel = [
            (side * 28.0, 86.0),
            (side * 52.0, 98.0),
            (side * 56.0, 138.0),
            (side * 44.0, 142.0),
            (side * 50.0, 156.0),
            (side * 16.0, 250.0),
            (side * 20.0, 140.0),
        ];
        all.part(shape(&lapel), mix(t.cloth, [1.0, 1.0, 1.0], 0.1));
    }
}
