//! New images from an image and words: changed as a whole, in a region, or behind its subject.

use super::model::DesignModel;
use crate::brief::SourceRule;
use crate::fields::{Count, ImageData, Prompt, Real, Text};
use crate::prelude::*;

/// Defines a request for new images from an image and words: its own fields, then those that all of them have.
macro_rules! repaint {
    ($(#[$about:meta])* $name:ident { $($(#[$field_about:meta])* $field:ident: $type:ty,)* }) => {
        #[derive(Serialize, Deserialize, JsonSchema)]
        $(#[$about])*
        pub struct $name {
            /// URL of the image.
            pub image: ImageUrl,
            $($(#[$field_about])* pub $field: $type,)*
            /// How many images; the price differs.
            #[serde(default)]
            pub n: Count<1, 6, 1>,
            /// The model that makes the images.
            #[serde(default)]
            pub model: DesignModel,
            /// What the image must not show.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub negative_prompt: Option<Text<32000>>,
        }

        impl $name {
            fn brief(&self, task: Task) -> Brief {
                Brief::new(task)
                    .words(&self.prompt)
                    .times(self.n.count())
                    .from_url("image", &self.image)
                    .by_model(self.model.word())
                    .without(self.negative_prompt.as_deref())
            }

            /// The order for a brief, at so much for each image.
            fn order_of(&self, price: &'static str, brief: Brief) -> Order {
                Order::new(Price::of(price).times(self.n.count()), brief)
            }
        }
    };
}

repaint! {
    /// Changes an image according to a prompt.
    #[schemars(rename = "DesignImageToImage")]
    DesignImageToImage {
        /// What the image shows.
        prompt: Prompt,
        /// How far from the image: 0 nearly identical, 1 very different.
        strength: Real<0, 1000, 500>,
    }
}

impl Operation for DesignImageToImage {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let mut brief = self.brief(Task::Restyle);
        brief.strength = self.strength.get();
        Ok(self.order_of("design.image_to_image", brief))
    }
}

repaint! {
    /// Repaints the white region of a mask.
    #[schemars(rename = "DesignInpaint")]
    DesignInpaint {
        /// URL of a black-and-white mask of the same size; white marks the region to repaint.
        #[schemars(extend("x-widget" = "mask", "x-mask" = "white"))]
        mask: ImageUrl,
        /// What the region shows.
        prompt: Prompt,
    }
}

impl Operation for DesignInpaint {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let wanted = SourceRule {
            like_first: true,
            ..SourceRule::ANY
        };
        let mask = ImageData::Url(self.mask.clone());
        let brief = self.brief(Task::Repaint).masked("mask", mask, wanted);
        Ok(self.order_of("design.inpaint", brief))
    }
}

repaint! {
    /// Finds the background of an image and changes it.
    ReplaceBackground {
        /// What to show behind the subject.
        prompt: Prompt,
    }
}

impl Operation for ReplaceBackground {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let brief = self.brief(Task::ReplaceBackground);
        Ok(self.order_of("design.replace_background", brief))
    }
}
