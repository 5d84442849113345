//! What a character looks like, from words or by chance.

use crate::paint::colour::{Rgb, hex, mix};
use crate::paint::dice::Dice;
use crate::words::{plain_words, word_colour};

/// How the hair is worn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HairCut {
    /// Straight, over the shoulders.
    Long,
    /// To the chin.
    Bob,
    /// Two tails high at the sides.
    TwinTails,
    /// One tail at the back.
    Ponytail,
    /// Short and pointed.
    Spiky,
    Wavy,
}

/// What the face says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expression {
    Smile,
    Laugh,
    Serious,
    /// Brows up, mouth down.
    Sad,
    /// Brows down.
    Angry,
    /// Mouth a small round.
    Surprised,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outfit {
    /// Sailor collar and ribbon.
    Uniform,
    /// Hood and strings.
    Hoodie,
    /// Crossed collar and sash.
    Kimono,
    /// Plates and a gorget.
    Armour,
    /// Bare shoulders and a frill.
    Dress,
    /// Collar, lapels, tie.
    Suit,
}

/// What a character wears on the head and face, and the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Ears of a cat.
    CatEars,
    Glasses,
    /// A bow in the hair.
    Bow,
    /// A pointed hat.
    Hat,
    Headphones,
    /// Red cheeks.
    Blush,
}

/// How much of a character is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pose {
    /// Head and shoulders.
    Bust,
    /// From head to foot.
    Full,
}

/// Everything that makes a character.
#[derive(Clone, Debug, PartialEq)]
pub struct Traits {
    pub hair: Rgb,
    /// How the hair is worn.
    pub cut: HairCut,
    pub eyes: Rgb,
    pub skin: Rgb,
    /// What the face says.
    pub expression: Expression,
    pub outfit: Outfit,
    /// Colour of what is worn.
    pub cloth: Rgb,
    /// What is worn on the head and face, and how the cheeks look.
    pub extras: Vec<Extra>,
    /// A boy's brows and jaw.
    pub boyish: bool,
    /// How much of it is seen.
    pub pose: Pose,
    /// Which way the fringe falls, and other small chances.
    pub(crate) chance: Dice,
}

/// Words that ask for a whole figure.
const WHOLE: &[&str] = &[
    "full body",
    "fullbody",
    "full length",
    "full figure",
    "whole body",
    "head to toe",
    "standing",
    "walking",
];

fn has(words: &[String], any: &[&str]) -> bool {
    any.iter().any(|one| {
        let parts: Vec<&str> = one.split(' ').collect();
        words
            .windows(parts.len())
            .any(|w| w.iter().zip(&parts).all(|(a, b)| a == b))
    })
}

/// The colour named shortly before one of these words.
fn colour_before(words: &[String], any: &[&str]) -> Option<Rgb> {
    let at = words.iter().position(|word| any.contains(&word.as_str()))?;
    let from = at.saturating_sub(3);
    words[from..at]
        .iter()
        .rev()
        .find_map(|word| word_colour(word))
        .map(vivid)
}

fn vivid(colour: [u8; 3]) -> Rgb {
    colour.map(|v| f32::from(v) / 255.0)
}

impl Traits {
    /// The traits the words name; the seed chooses the others.
    #[rustfmt::skip]
    pub fn from_words(prompt: &str, seed: u64) -> Self {
        let words = plain_words(prompt);
        let dice = Dice::new(seed).part("anime", 1);
        let boyish = has(&words, &["boy", "man", "male", "guy", "prince", "he", "1boy"]);
        let hairs = [hex(0x2c2433), hex(0x6b4028), hex(0xe8c27a), hex(0xc94a4a), hex(0x7fa4e8), hex(0xf09cc0), hex(0xb9a4e0), hex(0xdfe4ee)];
        let irises = [hex(0x3f7fd0), hex(0x2f9a6a), hex(0x9a4fc0), hex(0xc0703a), hex(0xc0405a), hex(0x30a0a8)];
        let skins = [hex(0xfde4d2), hex(0xf9d5bb), hex(0xe9b48e), hex(0xc48a62), hex(0x98643f)];
        let cloths = [hex(0x2f4a7a), hex(0x8a2f3f), hex(0x3f6a5a), hex(0xe9e4dc), hex(0x4a3f6a), hex(0xd98a9a)];
        let hair_words = ["hair", "haired", "ponytail", "twintails", "bob", "pigtails", "locks"];
        let dress_words = ["uniform", "hoodie", "kimono", "armor", "armour", "dress", "suit", "jacket", "yukata", "outfit", "shirt", "coat", "clothes", "robe", "cloak"];
        Self {
            hair: colour_before(&words, &hair_words)
                .or_else(|| has(&words, &["blonde", "blond"]).then(|| hex(0xf0d080)))
                .unwrap_or(hairs[dice.pick("hair", 8)]),
            cut: cut(&words, boyish, &dice),
            eyes: colour_before(&words, &["eyes", "eyed", "eye"])
                .unwrap_or(irises[dice.pick("eyes", 6)]),
            skin: if has(&words, &["dark skin", "brown skin", "tan skin", "dark skinned"]) {
                skins[3]
            } else if has(&words, &["pale", "pale skin"]) {
                skins[0]
            } else {
                skins[dice.pick("skin", 3)]
            },
            expression: expression(&words, &dice),
            outfit: outfit(&words, &dice),
            cloth: colour_before(&words, &dress_words).unwrap_or(cloths[dice.pick("cloth", 6)]),
            extras: extras(&words, boyish, &dice),
            boyish,
            pose: if has(&words, WHOLE) { Pose::Full } else { Pose::Bust },
            chance: dice,
        }
    }

    /// Whether the character wears or shows this.
    pub fn has(&self, extra: Extra) -> bool {
        self.extras.contains(&extra)
    }

    /// Moves hair, dress and eyes towards the colours of reference pictures.
    pub(crate) fn lean(&mut self, palette: &[Rgb], influence: f32) {
        let share = influence.clamp(0.0, 1.0);
        let targets = [&mut self.hair, &mut self.cloth, &mut self.eyes];
        for (own, reference) in targets.into_iter().zip(palette) {
            *own = mix(*own, *reference, share * 0.85);
        }
    }
}

fn cut(words: &[String], boyish: bool, dice: &Dice) -> HairCut {
    let all = [
        (
            HairCut::TwinTails,
            &["twintails", "twin tails", "pigtails", "twin tail"][..],
        ),
        (HairCut::Ponytail, &["ponytail", "pony tail"][..]),
        (HairCut::Bob, &["bob", "short hair", "bob cut"][..]),
        (HairCut::Spiky, &["spiky", "messy hair", "spiky hair"][..]),
        (
            HairCut::Wavy,
            &["wavy", "curly", "wavy hair", "curly hair"][..],
        ),
        (HairCut::Long, &["long hair", "straight hair"][..]),
    ];
    if let Some((cut, _)) = all.iter().find(|(_, names)| has(words, names)) {
        return *cut;
    }
    // A colour or two may stand between: "long pink hair".
    let hair = words.iter().position(|word| word == "hair");
    let before = hair.map(|at| &words[at.saturating_sub(3)..at]);
    if before.is_some_and(|before| before.iter().any(|word| word == "long")) {
        return HairCut::Long;
    }
    if boyish {
        return [HairCut::Spiky, HairCut::Bob][dice.pick("cut", 2)];
    }
    [
        HairCut::Long,
        HairCut::Bob,
        HairCut::TwinTails,
        HairCut::Ponytail,
        HairCut::Wavy,
    ][dice.pick("cut", 5)]
}

fn expression(words: &[String], dice: &Dice) -> Expression {
    match () {
        () if has(
            words,
            &[
                "laughing", "laugh", "happy", "excited", "cheerful", "joyful", "grinning",
            ],
        ) =>
        {
            Expression::Laugh
        }
        () if has(words, &["smiling", "smile", "gentle", "kind"]) => Expression::Smile,
        () if has(words, &["sad", "crying", "melancholic", "lonely", "tears"]) => Expression::Sad,
        () if has(words, &["angry", "furious", "fierce", "mad"]) => Expression::Angry,
        () if has(words, &["surprised", "shocked", "amazed"]) => Expression::Surprised,
        () if has(words, &["serious", "calm", "stoic", "cool", "cold"]) => Expression::Serious,
        () => {
            [Expression::Smile, Expression::Laugh, Expression::Serious][dice.pick("expression", 3)]
        }
    }
}

fn outfit(words: &[String], dice: &Dice) -> Outfit {
    match () {
        () if has(words, &["kimono", "yukata", "samurai", "geisha", "shrine"]) => Outfit::Kimono,
        () if has(words, &["hoodie", "streetwear", "casual", "sweater"]) => Outfit::Hoodie,
        () if has(words, &["armor", "armour", "knight", "warrior", "mecha"]) => Outfit::Armour,
        () if has(words, &["dress", "princess", "gown", "maid", "lolita"]) => Outfit::Dress,
        () if has(
            words,
            &["suit", "jacket", "detective", "coat", "blazer", "tie"],
        ) =>
        {
            Outfit::Suit
        }
        () if has(
            words,
            &["uniform", "school", "student", "sailor", "schoolgirl"],
        ) =>
        {
            Outfit::Uniform
        }
        () => {
            [Outfit::Uniform, Outfit::Hoodie, Outfit::Dress, Outfit::Suit][dice.pick("outfit", 4)]
        }
    }
}

fn extras(words: &[String], boyish: bool, dice: &Dice) -> Vec<Extra> {
    let named: [(Extra, &[&str]); 6] = [
        (
            Extra::CatEars,
            &[
                "cat ears", "cat girl", "catgirl", "neko", "cat boy", "fox ears", "kitsune",
            ],
        ),
        (Extra::Glasses, &["glasses", "spectacles", "megane"]),
        (Extra::Bow, &["bow", "ribbon", "bows", "ribbons"]),
        (Extra::Hat, &["witch", "wizard", "hat", "mage"]),
        (Extra::Headphones, &["headphones", "headset", "dj", "music"]),
        (Extra::Blush, &["blush", "blushing", "shy", "embarrassed"]),
    ];
    let by_chance = |extra: Extra| match extra {
        Extra::Bow => !boyish && dice.roll("bow") > 0.75,
        Extra::Blush => dice.roll("blush") > 0.6,
        _ => false,
    };
    let wanted = |(extra, names): &(Extra, &[&str])| has(words, names) || by_chance(*extra);
    named
        .iter()
        .filter(|one| wanted(one))
        .map(|one| one.0)
        .collect()
}
