//! Vendors against local servers that speak their documented formats, failures included.

#[path = "vendors/bedrock.rs"]
mod bedrock;
#[path = "vendors/bfl.rs"]
mod bfl;
#[path = "vendors/clients.rs"]
mod clients;
#[path = "vendors/cog.rs"]
mod cog;
#[path = "vendors/cog_real.rs"]
mod cog_real;
#[path = "vendors/comfyui.rs"]
mod comfyui;
#[path = "vendors/comfyui_real.rs"]
mod comfyui_real;
#[path = "vendors/comfyui_wishes.rs"]
mod comfyui_wishes;
#[path = "vendors/copies.rs"]
mod copies;
#[path = "vendors/costs.rs"]
mod costs;
#[cfg(feature = "studio")]
#[path = "embedded/defaults.rs"]
mod defaults;
#[path = "vendors/described.rs"]
mod described;
#[path = "vendors/errors.rs"]
mod errors;
#[path = "vendors/every.rs"]
mod every;
#[path = "vendors/example.rs"]
mod example;
#[path = "vendors/fal.rs"]
mod fal;
#[path = "vendors/fences.rs"]
mod fences;
#[expect(dead_code, reason = "the documents name servers by their vendors")]
#[path = "vendors/formats.rs"]
mod formats;
#[path = "vendors/fuzzed.rs"]
mod fuzzed;
#[path = "vendors/google.rs"]
mod google;
#[path = "vendors/hooks.rs"]
mod hooks;
#[path = "vendors/hosted.rs"]
mod hosted;
#[path = "vendors/hostile.rs"]
mod hostile;
#[path = "vendors/http.rs"]
mod http;
#[path = "vendors/http_signs.rs"]
mod http_signs;
#[path = "vendors/ideogram.rs"]
mod ideogram;
#[path = "../../../fuzz/inputs.rs"]
mod inputs;
#[path = "vendors/jimeng.rs"]
mod jimeng;
#[path = "vendors/litellm.rs"]
mod litellm;
#[expect(
    dead_code,
    reason = "stories of whole services need more of the servers"
)]
#[path = "vendors/local.rs"]
mod local;
#[path = "vendors/long.rs"]
mod long;
#[path = "vendors/luma.rs"]
mod luma;
#[path = "vendors/new_api.rs"]
mod new_api;
#[path = "vendors/novelai.rs"]
mod novelai;
#[path = "vendors/openai.rs"]
mod openai;
#[path = "vendors/openai_dialects.rs"]
mod openai_dialects;
#[path = "vendors/openai_failures.rs"]
mod openai_failures;
#[path = "vendors/openai_names.rs"]
mod openai_names;
#[path = "vendors/openai_servers.rs"]
mod openai_servers;
#[path = "vendors/openai_videos.rs"]
mod openai_videos;
#[path = "vendors/piapi.rs"]
mod piapi;
#[path = "../../../docs/examples/backend/postcards.rs"]
mod postcards;
#[path = "vendors/probes.rs"]
mod probes;
#[path = "vendors/recraft.rs"]
mod recraft;
#[path = "vendors/regards.rs"]
mod regards;
#[path = "vendors/relay_paths.rs"]
mod relay_paths;
#[path = "vendors/replicate.rs"]
mod replicate;
#[path = "vendors/roletask.rs"]
mod roletask;
#[path = "vendors/roletask_older.rs"]
mod roletask_older;
#[path = "vendors/roletask_refusals.rs"]
mod roletask_refusals;
#[path = "vendors/runway.rs"]
mod runway;
#[path = "vendors/sdwebui.rs"]
mod sdwebui;
#[path = "vendors/settings.rs"]
mod settings;
#[path = "vendors/stability.rs"]
mod stability;
#[path = "vendors/stand.rs"]
mod stand;
#[path = "../../../tests/shared/stopwatch.rs"]
mod stopwatch;
#[path = "vendors/story.rs"]
mod story;
#[expect(
    dead_code,
    reason = "a service around the embedded engine can do more than vendors need"
)]
#[path = "embedded/studio.rs"]
mod studio;
#[path = "vendors/unfit.rs"]
mod unfit;
#[path = "vendors/vertex.rs"]
mod vertex;
#[path = "vendors/vidu.rs"]
mod vidu;
#[path = "vendors/xai.rs"]
mod xai;
