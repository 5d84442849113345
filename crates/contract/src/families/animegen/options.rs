//! The words that both operations take.

use crate::fields::words;

words! {
    /// The model that draws the image.
    pub AnimegenModel { Full "anime-diffusion-4-5-full", Curated "anime-diffusion-4-5-curated" }
}
words! {
    /// How noise becomes an image.
    pub Sampler = EulerAncestral {
        EulerAncestral "Euler Ancestral", Euler "Euler", Dpm2SAncestral "DPM++ 2S Ancestral",
        Dpm2MSde "DPM++ 2M SDE", Dpm2M "DPM++ 2M", DpmSde "DPM++ SDE",
    }
}
words! {
    /// How the noise decreases over the steps.
    pub NoiseSchedule = Karras {
        Karras "karras", Exponential "exponential", Polyexponential "polyexponential",
    }
}
