//! One image in, one image out: vectors, no background, larger.

use crate::prelude::*;

/// Defines an operation that takes an image and nothing else.
macro_rules! single {
    ($(#[$doc:meta])* $name:ident, $task:ident, $price:literal) => {
        $(#[$doc])*
        #[derive(Serialize, Deserialize, JsonSchema)]
        pub struct $name {
            /// URL of the image.
            pub image: ImageUrl,
        }

        impl Operation for $name {
            fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
                let brief = Brief::new(Task::$task).from_url("image", &self.image);
                Ok(Order::new(Price::of($price), brief))
            }
        }
    };
}

single!(
    /// Converts a raster image to a vector drawing.
    Vectorize, Vectorize, "design.vectorize"
);
single!(
    /// Removes the background of an image.
    RemoveBackground, RemoveBackground, "design.remove_background"
);
single!(
    /// Makes an image larger, sharper and cleaner.
    CrispUpscale, CrispUpscale, "design.crisp_upscale"
);
single!(
    /// Makes an image larger with refined small details and faces.
    CreativeUpscale, CreativeUpscale, "design.creative_upscale"
);
