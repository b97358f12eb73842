import { setPriority } from 'node:os'
import sharp from 'sharp'

/**
 * A process that works on one image and ends (decision 014): writes it anew, upright and without metadata, and a
 * thumbnail. Arguments: type as `jpeg`, most pixels, source, image, thumbnail. Exits with 3 and the reason on its output
 * when the source is no image that can be read whole, has too many pixels or takes too long.
 */
const [format = '', maxPixels = '', source = '', image = '', thumbnail = ''] = process.argv.slice(2)
const REFUSED = 3

/** Of processor time, which is the image's own: how long it takes is also the machine's. */
const WORK_SECONDS = 30

/** Pixels across and down (spec: Limits, thumbnail). */
const THUMBNAIL = 500

/** What bounds time and memory comes before the last per cent of size. */
const OUTPUT: Readonly<Record<string, object>> = {
  jpeg: { quality: 90, optimiseCoding: false },
  png: { compressionLevel: 6 },
  webp: { quality: 90, effort: 1 },
  gif: { effort: 3 },
  avif: { quality: 60, effort: 0 },
}
const LOADERS = ['JpegFile', 'PngFile', 'WebpFile', 'NsgifFile', 'HeifFile'].map((loader) => `VipsForeignLoad${loader}`)

// Requests come first.
setPriority(5)
sharp.cache(false)
sharp.concurrency(1)
// No other decoder gets to see what somebody sent, least of all the one that reads SVG.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: LOADERS })

const watch = setInterval(() => {
  const { user, system } = process.cpuUsage()
  if (user + system < WORK_SECONDS * 1_000_000) return
  process.stdout.write(`takes longer than ${WORK_SECONDS} s to read`)
  process.exit(REFUSED)
}, 500)

try {
  await refuseTooManyPixels()
  const { pages = 1 } = await sharp(source).metadata()
  const isAnimated = pages > 1 && (format === 'gif' || format === 'webp')
  const whole = sharp(source, { limitInputPixels: Number(maxPixels), animated: isAnimated, failOn: 'warning' })
  const upright = isAnimated ? whole : whole.autoOrient()
  await upright.toFormat(format as 'jpeg', OUTPUT[format]).toFile(image)
  await sharp(image)
    .resize(THUMBNAIL, THUMBNAIL, { fit: 'cover' })
    .toFormat(format as 'jpeg', OUTPUT[format])
    .toFile(thumbnail)
} catch (error) {
  process.stdout.write((error as Error).message)
  process.exitCode = REFUSED
} finally {
  clearInterval(watch)
}

/** Told by the header alone: nothing is decoded before. */
async function refuseTooManyPixels(): Promise<void> {
  const { width, height } = await sharp(source, { limitInputPixels: false, animated: format !== 'avif' }).metadata()
  if (width * height <= Number(maxPixels)) return
  const megapixels = (pixels: number) => `${Math.round(pixels / 100_000) / 10} megapixels`
  throw new Error(`has ${megapixels(width * height)}, more than ${megapixels(Number(maxPixels))}`)
}
