// 来自操作目录的文字的中文；结尾不带句号。
export const texts = {
  "Art images":
    "艺术图片",
  "Art videos":
    "艺术视频",
  "Model images":
    "模型图片",
  "Chat images":
    "对话图片",
  "Design images":
    "设计图片",
  "Videos":
    "视频",
  "Videos, partner channel":
    "视频（合作渠道）",
  "Anime images":
    "动漫图片",
  "Clips":
    "短片",
  "Face swap":
    "换脸",
  "Motion videos":
    "动态视频",
  "A finished video on which this one is based: it has the same model, size and length":
    "以某个已完成的视频为起点：沿用其模型、尺寸和时长",
  "A finished vidgen job, also as `job_id`":
    "一个已完成的视频任务",
  "A png under 4 MB with the dimensions of the first image; transparent places are edited":
    "小于 4 MB 的 PNG，尺寸与第一张图片相同；透明处会被编辑",
  "A reference image; its dimensions must equal `size`":
    "参考图；其尺寸必须与所选尺寸一致",
  "URL of a black-and-white mask of the same size; white marks the region to repaint":
    "同尺寸黑白蒙版的地址；白色标记要重绘的区域",
  "URL of a produced video; ignored if `jobId` is given":
    "已生成视频的地址；给出任务时忽略",
  "URL of a video that shows the character, also as `character_url`; no real people":
    "展示该角色的视频地址；不得为真实人物",
  "URL of a video to take a character from; no real people":
    "用于提取角色的视频地址；不得为真实人物",
  "URL of the end frame":
    "尾帧的地址",
  "URL of the end frame; it has effect only with `motion-v1`":
    "尾帧的地址；仅对 `motion-v1` 有效",
  "URL of the image":
    "图片的地址",
  "URL of the image; ignored if `base64` is given":
    "图片的地址；已给出图片时忽略",
  "URL of the start frame":
    "首帧的地址",
  "URL or base64 of the base image":
    "底图的地址或 base64",
  "URL that receives the job, as `/jobs/v1/{jobId}` shows it, when it has finished or failed":
    "任务完成或失败时接收任务内容的地址",
  "URL that receives the result":
    "接收结果的地址",
  "URLs of reference images":
    "参考图的地址",
  "URLs or base64 of reference images":
    "参考图的地址或 base64",
  "URLs, data-URIs or base64 of reference images; no real people, no real brand logos":
    "参考图的地址、data-URI 或 base64；不得含真实人物或真实品牌标识",
  "Aspect ratio of the video, width to height":
    "视频的宽高比",
  "Base64 of a black-and-white mask of the same size as the image; white marks the region to repaint":
    "与图片同尺寸的黑白蒙版的 base64；白色标记要重绘的区域",
  "Button-style operations on an earlier job":
    "对先前任务的后续操作",
  "Changes an image according to a prompt":
    "按文字改变图片",
  "Compression in percent; only `image-1`, and other than 100 only with `webp` or `jpeg`":
    "压缩百分比；仅 `image-1`，非 100 时仅限 `webp` 或 `jpeg`",
  ["Converts a produced video to one without a watermark; at least one of `jobId` and `url` is needed, " +
    "`jobId` wins. Fields may also stand in the query"]:
    "将已生成的视频转换为无水印版本；需提供任务或视频之一，以任务为准",
  "Converts a raster image to a vector drawing":
    "将位图转换为矢量图",
  "Creates a character; when it is finished, prompts may name it as `@username`. Fields may also stand in the query":
    "创建一个角色；完成后可在提示词中以 `@username` 引用",
  "Creates a grid of four images from a prompt":
    "由文字生成一张四格图",
  ["Definition, at the same width and height: `large` has more detail and a higher bit rate; only with " +
    "`video-2-pro` and not with 25 seconds"]:
    "清晰度（宽高不变）：大，细节更多、码率更高；仅限 `video-2-pro`，且不支持 25 秒",
  "Description of the change for the region":
    "描述该区域的改动",
  "Earlier job with an image":
    "带图片的先前任务",
  "Earlier, completed video job":
    "先前已完成的视频任务",
  "Edits or extends source images":
    "编辑或扩展源图片",
  "Extends an earlier video":
    "延长先前的视频",
  "Extends one video of an earlier job by 5 seconds, at the resolution of that job":
    "将先前任务的一个视频延长 5 秒，分辨率不变",
  "File format; only `image-1`":
    "文件格式；仅 `image-1`",
  "Finds the background of an image and changes it":
    "识别图片背景并更换",
  "Gets the seed of an image":
    "获取图片的种子",
  "Height in pixels":
    "高度（像素）",
  "How far from the base image":
    "与底图的差异程度",
  "How far from the image: 0 nearly identical, 1 very different":
    "与原图的差异：0 几乎相同，1 差别很大",
  "How images are returned; `image-1` answers `b64_json` only, `art-2` `url` by default":
    "图片的返回形式；`image-1` 只用 `b64_json`，`art-2` 默认 `url`",
  "How images are returned; `image-1` answers `b64_json` only, the others `url` by default":
    "图片的返回形式；`image-1` 只用 `b64_json`，其他默认 `url`",
  "How many images":
    "图片数量",
  "How many images; always 1 with `art-3`":
    "图片数量；`art-3` 始终为 1",
  "How many images; only 1":
    "图片数量；只能为 1",
  "How many images; the price differs":
    "图片数量；价格不同",
  "How many unfinished images a stream shows at most; as many as the back end makes":
    "最多显示多少张未完成的图片",
  "How many videos to make":
    "生成多少个视频",
  "How much care is taken":
    "精细程度",
  "How noise becomes an image":
    "噪声变为图片的方法",
  "How noise fades":
    "噪声消退的方式",
  "How strictly content is reviewed; only `image-1`":
    "内容审核的严格程度；仅 `image-1`",
  "Image whose face is placed into the template":
    "提供人脸的图片",
  "Images whose character or style is adopted":
    "沿用其角色或风格的图片",
  "Images whose mood is adopted":
    "沿用其氛围的图片",
  "Job of the video that is extended":
    "要延长的视频所属的任务",
  "Job returned by an earlier call":
    "先前调用返回的任务",
  "Length in seconds, as text":
    "时长（秒）",
  "Length in seconds; 25 only with `video-2-pro`. Default 10, with `video-2-pro` 15":
    "时长（秒）；25 仅限 `video-2-pro`。默认 10，`video-2-pro` 默认 15",
  "Length of the video":
    "视频时长",
  "Length; `10s` only at 720p":
    "时长；`10s` 仅限 720p",
  "Low or high motion":
    "动作幅度小或大",
  "Makes 1, 2 or 4 videos of 5 seconds from a start frame":
    "由首帧生成 1、2 或 4 个 5 秒视频",
  "Makes a video from a prompt and an optional reference image":
    "由文字和可选的参考图生成视频",
  "Makes a video from a prompt and optional start and end frames":
    "由文字和可选的首尾帧生成视频",
  "Makes a video from a prompt and reference images":
    "由文字和参考图生成视频",
  "Makes a video from a prompt, frames or references":
    "由文字、画面或参考生成视频",
  "Makes an image from a prompt and reference images":
    "由文字和参考图生成图片",
  "Makes an image larger with refined small details and faces":
    "放大图片并细化细节与面部",
  "Makes an image larger, sharper and cleaner":
    "放大图片，使其更清晰干净",
  "Makes anime-style images from an image and a prompt":
    "由图片和文字生成动漫风格图片",
  "Makes anime-style images from a prompt":
    "由文字生成动漫风格图片",
  "Makes images from a prompt":
    "由文字生成图片",
  "Makes one image; discouraged, use `/v1/images/generations`":
    "生成一张图片；不推荐，请用 `/v1/images/generations`",
  "Makes raster images from a prompt":
    "由文字生成位图",
  "Merges 2 to 5 images":
    "混合 2 到 5 张图片",
  "Noise added to the base image":
    "加到底图上的噪声",
  "Produces four prompts for an image; at least one of `base64` and `url` is needed, `base64` wins":
    "为图片生成四段描述；至少提供一张图片，以第一张为准",
  "Prompt adherence: lower is softer and painterly, higher sharper":
    "与提示词的贴合度：低则柔和、绘画感强，高则锐利",
  "Removes the background of an image":
    "去除图片背景",
  "Repaints a region of an earlier image":
    "重绘先前图片的一个区域",
  "Repaints the white region of a mask":
    "重绘蒙版的白色区域",
  "Replaces the face in `targetImage` with the face in `swapImage`":
    "用一张图片中的人脸替换另一张中的人脸",
  "Resolution of the video":
    "视频分辨率",
  "Resolution; only `720p` is offered":
    "分辨率；仅提供 `720p`",
  "Resolution; the price differs":
    "分辨率；价格不同",
  "Seconds until the job fails":
    "任务超时秒数",
  "Seconds until the job fails; default and least value 300, in relax mode 600":
    "任务超时秒数；默认且最少 300，休闲模式 600",
  "Seed, digits up to 4294967295":
    "种子，数字，最大 4294967295",
  "Size of each image in pixels, width and height":
    "每张图片的像素尺寸（宽和高）",
  "Size of the image in pixels, width and height":
    "图片的像素尺寸（宽和高）",
  "Speed mode: it orders the queue and sets the price":
    "速度模式：决定排队次序与价格",
  "Speed mode; only `fast`":
    "速度模式；仅快速",
  "Speed mode; the price differs":
    "速度模式；价格不同",
  "Step count":
    "步数",
  "Template image whose face is replaced":
    "被替换人脸的图片",
  "Text to generate from; it may carry option flags such as `--ar 16:9`":
    "用于生成的文字；可带 `--ar 16:9` 等选项",
  "The characters of the image":
    "画面中的角色",
  "The image as a data-URI":
    "图片（data-URI）",
  "The images, each as a data-URI":
    "各图片（data-URI）",
  ["The images: files, addresses, data-URIs or base64. `image-1`: each a png, webp or jpg under 25 MB; " +
    "`art-2`: exactly one square png under 4 MB"]:
    "图片：文件、地址、data-URI 或 base64。`image-1`：每张为 25 MB 以下的 png、webp 或 jpg；`art-2`：恰好一张 4 MB 以下的方形 png",
  "The look; only `art-3`":
    "画面风格；仅 `art-3`",
  "The model that extends the video":
    "用于延长视频的模型",
  "The model that makes the images":
    "生成图片的模型",
  "The model that makes the video":
    "生成视频的模型",
  "The model":
    "模型",
  "The model; only `art-3`":
    "模型；仅 `art-3`",
  "The part of that video that shows the character, `start,end` in seconds, 1 to 3 seconds long":
    "视频中展示角色的片段，`起,止` 秒，长 1 到 3 秒",
  "The part of the video that shows it, `start,end` in seconds, 1 to 3 seconds long; also as `character_timestamps`":
    "视频中展示角色的片段，`起,止` 秒，长 1 到 3 秒",
  "The shape of the result":
    "结果的形状",
  "What happens in the extension":
    "新增部分的内容",
  "What happens in the video":
    "视频中发生什么",
  "What happens; English gives the best results":
    "发生什么；英文效果最佳",
  ["What happens; `@username` lets a finished character of yours appear, any other `@word` is words, and so " +
    "is what comes after 32 different ones"]:
    "发生什么；`@username` 可让您已完成的角色出场，其他 `@词` 均视为文字，超过 32 个不同的也是",
  "Background; only `image-1`. `transparent` needs `png` or `webp`":
    "主体后面的内容；仅 `image-1`。透明需要 `png` 或 `webp`",
  "What the image shows":
    "画面内容",
  "What to change: up to 32000 characters with `image-1`, 1000 with `art-2`":
    "要改变的内容：`image-1` 最多 32000 字符，`art-2` 最多 1000",
  "Follow-up action":
    "要进行的操作",
  "What to draw, in any language; phrase it as a request to draw":
    "要画什么，任何语言均可；请写成绘画请求",
  "What the image must not show":
    "不要出现的内容",
  "What to show behind the subject":
    "主体后面显示什么",
  "What the region shows":
    "该区域显示什么",
  "What to show: up to 32000 characters with `image-1`, 1000 with `art-2`, 4000 with `art-3`":
    "画面里有什么：`image-1` 最多 32000 字符，`art-2` 1000，`art-3` 4000",
  "What the image shows; English works best":
    "画面里有什么；英文效果最佳",
  "Whether the first and the last frame are equal":
    "首尾帧是否相同",
  "Whether the four small images are returned in `images`":
    "是否同时给出四张单图",
  "Whether the prompt is translated":
    "是否翻译提示词",
  "Whether the video is private":
    "视频是否保密",
  "Whether the video is upright or wide":
    "竖版或横版",
  "Whether to answer at once with where the result will be (202) instead of waiting for it":
    "是否立即返回而不等待结果",
  "Whether to answer with server-sent events; only `image-1`, and not together with `async`":
    "是否以事件流返回；仅 `image-1`",
  "Whether quality keywords are added to the prompt":
    "是否在提示词中加入质量词",
  "Which of its videos; 0 is the first":
    "第几个视频；0 为第一个",
  "Whether motion follows the prompt":
    "由谁决定如何运动",
  "Width and height of the video":
    "视频的宽和高",
  "Width in pixels":
    "宽度（像素）",
  "`image-1`: `1024x1024`, `1536x1024`, `1024x1536`, `auto`; `art-2`: `256x256`, `512x512`, `1024x1024`":
    "`image-1`: `1024x1024`, `1536x1024`, `1024x1536`, `auto`; `art-2`: `256x256`, `512x512`, `1024x1024`",
  ["`image-1`: `1024x1024`, `1536x1024`, `1024x1536`, `auto`; `art-2`: `256x256`, `512x512`, `1024x1024`; " +
    "`art-3`: `1024x1024`, `1792x1024`, `1024x1792`"]:
    "`image-1`: `1024x1024`, `1536x1024`, `1024x1536`, `auto`; `art-2`: `256x256`, `512x512`, `1024x1024`; " +
      "`art-3`: `1024x1024`, `1792x1024`, `1024x1792`",
  "`image-1`: `high`, `medium`, `low`; `art-2`: `standard`; both: `auto`":
    "`image-1`：`high`、`medium`、`low`；`art-2`：`standard`；两者：`auto`",
  "`image-1`: `high`, `medium`, `low`; `art-3`: `hd`, `standard`; `art-2`: `standard`; all: `auto`":
    "`image-1`：`high`、`medium`、`low`；`art-3`：`hd`、`standard`；`art-2`：`standard`；均可：`auto`",
  "Please draw a paper boat on a calm lake":
    "请画一只平静湖面上的纸船",
  "a girl with an umbrella in the rain":
    "雨中撑伞的女孩",
  "a kite rises over the dunes":
    "风筝升起在沙丘之上",
  "a lighthouse at dusk":
    "黄昏的灯塔",
  "a paper crane on a blue table":
    "蓝色桌子上的纸鹤",
  "a red fox in deep snow, morning light --ar 3:2 --v 7":
    "深雪中的赤狐，晨光 --ar 3:2 --v 7",
  "a sailing boat crosses a quiet bay":
    "帆船驶过宁静的海湾",
  "a sandy beach at noon":
    "正午的沙滩",
  "a small red boat":
    "一只红色小船",
  "a train passes through autumn hills":
    "火车穿过秋天的山丘",
  "a wooden bridge over the stream":
    "溪流上的木桥",
  "put a red hat on the fox":
    "给狐狸戴上红帽子",
  "the fox turns its head and runs":
    "狐狸转过头跑开",
  "the kite flies toward the sun":
    "风筝飞向太阳",
  "the same scene in winter":
    "同样的场景，换成冬天",
  "the same street at night":
    "同一条街的夜晚",
  // Short hints beside fields for files.
  "no real people":
    "不可含真人",
  "no real people, no real brand logos":
    "不可含真人或真实品牌标志",
  "only with `motion-v1`":
    "仅对 `motion-v1` 有效",
  "its dimensions must equal `size`":
    "尺寸必须等于 `size`",
  "`image-1`: each under 25 MB; `art-2`: exactly one square png under 4 MB":
    "`image-1`：每张 25 MB 以下；`art-2`：恰好一张 4 MB 以下的方形 png",
};
