// Was aus dem Verzeichnis der Vorgänge kommt, auf Deutsch; ohne Punkt am Ende.
export const texts = {
  "Art images":
    "Kunstbilder",
  "Art videos":
    "Kunstvideos",
  "Model images":
    "Modellbilder",
  "Chat images":
    "Bilder im Gespräch",
  "Design images":
    "Gestaltung",
  "Videos":
    "Videos",
  "Videos, partner channel":
    "Videos, Partnerkanal",
  "Anime images":
    "Anime-Bilder",
  "Clips":
    "Clips",
  "Face swap":
    "Gesichtstausch",
  "Motion videos":
    "Bewegte Bilder",
  "A finished video on which this one is based: it has the same model, size and length":
    "Ein fertiges Video, von dem dieses ausgeht: Modell, Größe und Länge sind dieselben",
  "A finished vidgen job, also as `job_id`":
    "Ein fertiger Videoauftrag",
  "A png under 4 MB with the dimensions of the first image; transparent places are edited":
    "Ein PNG unter 4 MB mit den Maßen des ersten Bildes; durchsichtige Stellen werden bearbeitet",
  "A reference image; its dimensions must equal `size`":
    "Eine Vorlage; ihre Maße müssen der gewählten Größe gleichen",
  "URL of a black-and-white mask of the same size; white marks the region to repaint":
    "Adresse einer schwarzweißen Maske gleicher Größe; Weiß markiert, was neu gemalt wird",
  "URL of a produced video; ignored if `jobId` is given":
    "Adresse eines fertigen Videos; ohne Belang, wenn ein Auftrag genannt ist",
  "URL of a video that shows the character, also as `character_url`; no real people":
    "Adresse eines Videos, das die Figur zeigt; keine echten Personen",
  "URL of a video to take a character from; no real people":
    "Adresse eines Videos, aus dem eine Figur übernommen wird; keine echten Personen",
  "URL of the end frame":
    "Adresse des Endbildes",
  "URL of the end frame; it has effect only with `motion-v1`":
    "Adresse des Endbildes; es wirkt nur mit `motion-v1`",
  "URL of the image":
    "Adresse des Bildes",
  "URL of the image; ignored if `base64` is given":
    "Adresse des Bildes; ohne Belang, wenn schon eines gegeben ist",
  "URL of the start frame":
    "Adresse des Anfangsbildes",
  "URL or base64 of the base image":
    "Adresse oder Base64 des Ausgangsbildes",
  "URL that receives the job, as `/jobs/v1/{jobId}` shows it, when it has finished or failed":
    "Adresse, die den Auftrag erhält, sobald er fertig oder fehlgeschlagen ist",
  "URL that receives the result":
    "Adresse, die das Ergebnis erhält",
  "URLs of reference images":
    "Adressen von Vorlagen",
  "URLs or base64 of reference images":
    "Adressen oder Base64 von Vorlagen",
  "URLs, data-URIs or base64 of reference images; no real people, no real brand logos":
    "Adressen, Data-URIs oder Base64 von Vorlagen; keine echten Personen, keine echten Markenzeichen",
  "Aspect ratio of the video, width to height":
    "Seitenverhältnis des Videos, Breite zu Höhe",
  "Base64 of a black-and-white mask of the same size as the image; white marks the region to repaint":
    "Base64 einer schwarzweißen Maske in der Größe des Bildes; Weiß markiert, was neu gemalt wird",
  "Button-style operations on an earlier job":
    "Was sich mit einem früheren Auftrag weiter tun lässt",
  "Changes an image according to a prompt":
    "Verändert ein Bild nach Worten",
  "Compression in percent; only `image-1`, and other than 100 only with `webp` or `jpeg`":
    "Kompression in Prozent; nur mit `image-1`, und außer 100 nur für `webp` oder `jpeg`",
  ["Converts a produced video to one without a watermark; at least one of `jobId` and `url` is needed, " +
    "`jobId` wins. Fields may also stand in the query"]:
    "Macht aus einem fertigen Video eines ohne Wasserzeichen; nötig ist ein Auftrag oder ein Video, der " +
      "Auftrag geht vor",
  "Converts a raster image to a vector drawing":
    "Macht aus einem Rasterbild eine Vektorzeichnung",
  "Creates a character; when it is finished, prompts may name it as `@username`. Fields may also stand in the query":
    "Legt eine Figur an; ist sie fertig, können Texte sie als `@username` nennen",
  "Creates a grid of four images from a prompt":
    "Macht aus einem Prompt ein Raster mit vier Bildern",
  ["Definition, at the same width and height: `large` has more detail and a higher bit rate; only with " +
    "`video-2-pro` and not with 25 seconds"]:
    "Bildschärfe bei gleicher Breite und Höhe: groß hat mehr Einzelheiten und eine höhere Bitrate; nur mit " +
      "`video-2-pro` und nicht mit 25 Sekunden",
  "Description of the change for the region":
    "Was sich in dem Bereich ändern soll",
  "Earlier job with an image":
    "Früherer Auftrag mit einem Bild",
  "Earlier, completed video job":
    "Früherer, fertiger Videoauftrag",
  "Edits or extends source images":
    "Bearbeitet oder erweitert Bilder",
  "Extends an earlier video":
    "Verlängert ein früheres Video",
  "Extends one video of an earlier job by 5 seconds, at the resolution of that job":
    "Verlängert ein Video eines früheren Auftrags um 5 Sekunden, in dessen Auflösung",
  "File format; only `image-1`":
    "Dateiformat; nur mit `image-1`",
  "Finds the background of an image and changes it":
    "Findet den Hintergrund eines Bildes und ändert ihn",
  "Gets the seed of an image":
    "Holt den Startwert eines Bildes",
  "Height in pixels":
    "Höhe in Pixeln",
  "How far from the base image":
    "Wie weit weg vom Ausgangsbild",
  "How far from the image: 0 nearly identical, 1 very different":
    "Wie weit weg vom Bild: 0 fast gleich, 1 sehr anders",
  "How images are returned; `image-1` answers `b64_json` only, `art-2` `url` by default":
    "Wie Bilder geliefert werden; `image-1` nur als `b64_json`, `art-2` üblicherweise als `url`",
  "How images are returned; `image-1` answers `b64_json` only, the others `url` by default":
    "Wie Bilder geliefert werden; `image-1` nur als `b64_json`, die anderen üblicherweise als `url`",
  "How many images":
    "Wie viele Bilder",
  "How many images; always 1 with `art-3`":
    "Wie viele Bilder; mit `art-3` immer 1",
  "How many images; only 1":
    "Wie viele Bilder; nur 1",
  "How many images; the price differs":
    "Wie viele Bilder; der Preis richtet sich danach",
  "How many unfinished images a stream shows at most; as many as the back end makes":
    "Wie viele unfertige Bilder höchstens gezeigt werden",
  "How many videos to make":
    "Wie viele Videos entstehen",
  "How much care is taken":
    "Wie sorgfältig gearbeitet wird",
  "How noise becomes an image":
    "Wie aus Rauschen ein Bild wird",
  "How noise fades":
    "Wie das Rauschen verschwindet",
  "How strictly content is reviewed; only `image-1`":
    "Wie streng Inhalte geprüft werden; nur mit `image-1`",
  "Image whose face is placed into the template":
    "Bild, dessen Gesicht eingesetzt wird",
  "Images whose character or style is adopted":
    "Bilder, deren Figur oder Stil übernommen wird",
  "Images whose mood is adopted":
    "Bilder, deren Stimmung übernommen wird",
  "Job of the video that is extended":
    "Auftrag des Videos, das verlängert wird",
  "Job returned by an earlier call":
    "Auftrag eines früheren Aufrufs",
  "Length in seconds, as text":
    "Länge in Sekunden",
  "Length in seconds; 25 only with `video-2-pro`. Default 10, with `video-2-pro` 15":
    "Länge in Sekunden; 25 nur mit `video-2-pro`. Üblich sind 10, mit `video-2-pro` 15",
  "Length of the video":
    "Länge des Videos",
  "Length; `10s` only at 720p":
    "Länge; `10s` nur mit 720p",
  "Low or high motion":
    "Wenig oder viel Bewegung",
  "Makes 1, 2 or 4 videos of 5 seconds from a start frame":
    "Macht 1, 2 oder 4 Videos von 5 Sekunden aus einem Anfangsbild",
  "Makes a video from a prompt and an optional reference image":
    "Macht ein Video aus Worten und, wenn gewünscht, einer Vorlage",
  "Makes a video from a prompt and optional start and end frames":
    "Macht ein Video aus Worten und, wenn gewünscht, Anfangs- und Endbild",
  "Makes a video from a prompt and reference images":
    "Macht ein Video aus Worten und Vorlagen",
  "Makes a video from a prompt, frames or references":
    "Macht ein Video aus Worten, Bildern oder Vorlagen",
  "Makes an image from a prompt and reference images":
    "Macht ein Bild aus Worten und Vorlagen",
  "Makes an image larger with refined small details and faces":
    "Vergrößert ein Bild und verfeinert Einzelheiten und Gesichter",
  "Makes an image larger, sharper and cleaner":
    "Macht ein Bild größer, schärfer und klarer",
  "Makes anime-style images from an image and a prompt":
    "Macht Anime-Bilder aus einem Bild und Worten",
  "Makes anime-style images from a prompt":
    "Macht Anime-Bilder aus Worten",
  "Makes images from a prompt":
    "Macht Bilder aus Worten",
  "Makes one image; discouraged, use `/v1/images/generations`":
    "Macht ein Bild; veraltet, besser ist `/v1/images/generations`",
  "Makes raster images from a prompt":
    "Macht Rasterbilder aus Worten",
  "Merges 2 to 5 images":
    "Mischt 2 bis 5 Bilder",
  "Noise added to the base image":
    "Rauschen, das zum Ausgangsbild kommt",
  "Produces four prompts for an image; at least one of `base64` and `url` is needed, `base64` wins":
    "Findet vier Beschreibungen für ein Bild; eines der beiden Bilder ist nötig, das erste geht vor",
  "Prompt adherence: lower is softer and painterly, higher sharper":
    "Treue zu den Worten: niedriger ist weicher und malerischer, höher schärfer",
  "Removes the background of an image":
    "Entfernt den Hintergrund eines Bildes",
  "Repaints a region of an earlier image":
    "Malt einen Bereich eines früheren Bildes neu",
  "Repaints the white region of a mask":
    "Malt den weißen Bereich einer Maske neu",
  "Replaces the face in `targetImage` with the face in `swapImage`":
    "Ersetzt das Gesicht in dem einen Bild durch das des anderen",
  "Resolution of the video":
    "Auflösung des Videos",
  "Resolution; only `720p` is offered":
    "Auflösung; es gibt nur `720p`",
  "Resolution; the price differs":
    "Auflösung; der Preis richtet sich danach",
  "Seconds until the job fails":
    "Sekunden, bis der Auftrag aufgegeben wird",
  "Seconds until the job fails; default and least value 300, in relax mode 600":
    "Sekunden, bis der Auftrag aufgegeben wird; mindestens und üblicherweise 300, gemächlich 600",
  "Seed, digits up to 4294967295":
    "Startwert, Ziffern bis 4294967295",
  "Size of each image in pixels, width and height":
    "Größe jedes Bildes in Pixeln, Breite und Höhe",
  "Size of the image in pixels, width and height":
    "Größe des Bildes in Pixeln, Breite und Höhe",
  "Speed mode: it orders the queue and sets the price":
    "Tempo: es bestimmt die Reihenfolge und den Preis",
  "Speed mode; only `fast`":
    "Tempo; nur schnell",
  "Speed mode; the price differs":
    "Tempo; der Preis richtet sich danach",
  "Step count":
    "Zahl der Schritte",
  "Template image whose face is replaced":
    "Bild, in dem das Gesicht ersetzt wird",
  "Text to generate from; it may carry option flags such as `--ar 16:9`":
    "Was zu sehen sein soll; auch mit Angaben wie `--ar 16:9`",
  "The characters of the image":
    "Die Figuren im Bild",
  "The image as a data-URI":
    "Das Bild als Data-URI",
  "The images, each as a data-URI":
    "Die Bilder, jedes als Data-URI",
  ["The images: files, addresses, data-URIs or base64. `image-1`: each a png, webp or jpg under 25 MB; " +
    "`art-2`: exactly one square png under 4 MB"]:
    "Die Bilder: Dateien, Adressen, Data-URIs oder Base64. `image-1`: je ein PNG, WebP oder JPEG unter 25 MB; " +
      "`art-2`: genau ein quadratisches PNG unter 4 MB",
  "The look; only `art-3`":
    "Das Aussehen; nur mit `art-3`",
  "The model that extends the video":
    "Das Modell, das das Video verlängert",
  "The model that makes the images":
    "Das Modell, das die Bilder macht",
  "The model that makes the video":
    "Das Modell, das das Video macht",
  "The model":
    "Das Modell",
  "The model; only `art-3`":
    "Das Modell; nur `art-3`",
  "The part of that video that shows the character, `start,end` in seconds, 1 to 3 seconds long":
    "Der Teil des Videos, der die Figur zeigt: Anfang und Ende in Sekunden, 1 bis 3 Sekunden lang",
  "The part of the video that shows it, `start,end` in seconds, 1 to 3 seconds long; also as `character_timestamps`":
    "Der Teil des Videos, der sie zeigt: Anfang und Ende in Sekunden, 1 bis 3 Sekunden lang",
  "The shape of the result":
    "Das Format des Ergebnisses",
  "What happens in the extension":
    "Was im neuen Teil geschieht",
  "What happens in the video":
    "Was im Video geschieht",
  "What happens; English gives the best results":
    "Was geschieht; auf Englisch gelingt es am besten",
  ["What happens; `@username` lets a finished character of yours appear, any other `@word` is words, and so " +
    "is what comes after 32 different ones"]:
    "Was geschieht; `@username` lässt eine fertige eigene Figur auftreten, jedes andere `@wort` ist Text, " +
      "ebenso alles nach 32 verschiedenen",
  "Background; only `image-1`. `transparent` needs `png` or `webp`":
    "Was hinter dem Motiv ist; nur mit `image-1`. Durchsichtig braucht `png` oder `webp`",
  "What the image shows":
    "Was das Bild zeigt",
  "What to change: up to 32000 characters with `image-1`, 1000 with `art-2`":
    "Was sich ändern soll: bis zu 32000 Zeichen mit `image-1`, 1000 mit `art-2`",
  "Follow-up action":
    "Was damit geschehen soll",
  "What to draw, in any language; phrase it as a request to draw":
    "Was zu zeichnen ist, in jeder Sprache; am besten als Bitte",
  "What the image must not show":
    "Was nicht vorkommen soll",
  "What to show behind the subject":
    "Was hinter dem Motiv zu sehen sein soll",
  "What the region shows":
    "Was in dem Bereich zu sehen sein soll",
  "What to show: up to 32000 characters with `image-1`, 1000 with `art-2`, 4000 with `art-3`":
    "Was zu sehen sein soll: bis zu 32000 Zeichen mit `image-1`, 1000 mit `art-2`, 4000 mit `art-3`",
  "What the image shows; English works best":
    "Was zu sehen sein soll; auf Englisch gelingt es am besten",
  "Whether the first and the last frame are equal":
    "Ob erstes und letztes Bild gleich sind",
  "Whether the four small images are returned in `images`":
    "Ob es die vier Bilder auch einzeln gibt",
  "Whether the prompt is translated":
    "Ob die Worte übersetzt werden",
  "Whether the video is private":
    "Ob das Video privat bleibt",
  "Whether the video is upright or wide":
    "Ob das Video hoch oder quer ist",
  "Whether to answer at once with where the result will be (202) instead of waiting for it":
    "Ob sofort geantwortet wird, statt auf das Ergebnis zu warten",
  "Whether to answer with server-sent events; only `image-1`, and not together with `async`":
    "Ob als Ereignisse geantwortet wird; nur mit `image-1`",
  "Whether quality keywords are added to the prompt":
    "Ob Worte für mehr Güte dazukommen",
  "Which of its videos; 0 is the first":
    "Welches seiner Videos; 0 ist das erste",
  "Whether motion follows the prompt":
    "Wer bestimmt, wie es sich bewegt",
  "Width and height of the video":
    "Breite und Höhe des Videos",
  "Width in pixels":
    "Breite in Pixeln",
  "`image-1`: `1024x1024`, `1536x1024`, `1024x1536`, `auto`; `art-2`: `256x256`, `512x512`, `1024x1024`":
    "`image-1`: `1024x1024`, `1536x1024`, `1024x1536`, `auto`; `art-2`: `256x256`, `512x512`, `1024x1024`",
  ["`image-1`: `1024x1024`, `1536x1024`, `1024x1536`, `auto`; `art-2`: `256x256`, `512x512`, `1024x1024`; " +
    "`art-3`: `1024x1024`, `1792x1024`, `1024x1792`"]:
    "`image-1`: `1024x1024`, `1536x1024`, `1024x1536`, `auto`; `art-2`: `256x256`, `512x512`, `1024x1024`; " +
      "`art-3`: `1024x1024`, `1792x1024`, `1024x1792`",
  "`image-1`: `high`, `medium`, `low`; `art-2`: `standard`; both: `auto`":
    "`image-1`: `high`, `medium`, `low`; `art-2`: `standard`; beide: `auto`",
  "`image-1`: `high`, `medium`, `low`; `art-3`: `hd`, `standard`; `art-2`: `standard`; all: `auto`":
    "`image-1`: `high`, `medium`, `low`; `art-3`: `hd`, `standard`; `art-2`: `standard`; alle: `auto`",
  "Please draw a paper boat on a calm lake":
    "Bitte zeichne ein Papierboot auf einem stillen See",
  "a girl with an umbrella in the rain":
    "ein Mädchen mit Schirm im Regen",
  "a kite rises over the dunes":
    "ein Drachen steigt über die Dünen",
  "a lighthouse at dusk":
    "ein Leuchtturm in der Dämmerung",
  "a paper crane on a blue table":
    "ein Papierkranich auf einem blauen Tisch",
  "a red fox in deep snow, morning light --ar 3:2 --v 7":
    "ein Rotfuchs im tiefen Schnee, Morgenlicht --ar 3:2 --v 7",
  "a sailing boat crosses a quiet bay":
    "ein Segelboot kreuzt eine stille Bucht",
  "a sandy beach at noon":
    "ein Sandstrand am Mittag",
  "a small red boat":
    "ein kleines rotes Boot",
  "a train passes through autumn hills":
    "ein Zug fährt durch herbstliche Hügel",
  "a wooden bridge over the stream":
    "eine Holzbrücke über dem Bach",
  "put a red hat on the fox":
    "setz dem Fuchs einen roten Hut auf",
  "the fox turns its head and runs":
    "der Fuchs wendet den Kopf und läuft los",
  "the kite flies toward the sun":
    "der Drachen fliegt zur Sonne",
  "the same scene in winter":
    "dieselbe Szene im Winter",
  "the same street at night":
    "dieselbe Straße bei Nacht",
  // Short hints beside fields for files.
  "no real people":
    "keine echten Personen",
  "no real people, no real brand logos":
    "keine echten Personen, keine Logos echter Marken",
  "only with `motion-v1`":
    "nur mit `motion-v1`",
  "its dimensions must equal `size`":
    "ihre Maße müssen `size` entsprechen",
  "`image-1`: each under 25 MB; `art-2`: exactly one square png under 4 MB":
    "`image-1`: je unter 25 MB; `art-2`: genau ein quadratisches PNG unter 4 MB",
};
