// A picture of a page as a small file, as the documents keep it.

/** @param {import("playwright-core").Page} page draws it, whatever it shows @param {Buffer} png */
export async function small(page, png, { quality = 0.72, width = Infinity } = {}) {
  const made = await page.evaluate(
    async ({ url, quality, width }) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const scale = Math.min(1, (width || Infinity) / image.naturalWidth);
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.naturalWidth * scale, image.naturalHeight * scale].map(Math.round);
      const context = canvas.getContext("2d");
      context.imageSmoothingQuality = "high";
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      return canvas.toDataURL("image/webp", quality);
    },
    { url: `data:image/png;base64,${png.toString("base64")}`, quality, width: width === Infinity ? 0 : width },
  );
  return Buffer.from(made.split(",")[1], "base64");
}
