import { setPriority } from 'node:os'
import sharp from 'sharp'

/**
 * A process that normalizes one image and ends (decision 014): writes it upright and without metadata, and a thumbnail.
 * Exits with code 3 and the reason when the source cannot be read, has too many pixels or takes too long.
 */
const [format = '', maxPixels = '', source = '', image = '', thumbnail = ''] = process.argv.slice(2)
const REFUSED = 3

/** Seconds of processor time. Elapsed time would depend on the load of the machine as well. */
const WORK_SECONDS = 30

/** Width and height in pixels (spec: Limits, thumbnail). */
const THUMBNAIL = 500

/** Options that save time and memory at the cost of slightly larger files. */
const OUTPUT: Readonly<Record<string, object>> = {
  jpeg: { quality: 90, optimiseCoding: false },
  png: { compressionLevel: 6 },
  // With less effort it gives up an image of more than 512 KiB of prediction modes, which 16 megapixels can have.
  webp: { quality: 90, effort: 2 },
  gif: { effort: 3 },
  avif: { quality: 60, effort: 0 },
}
const LOADERS = ['JpegFile', 'PngFile', 'WebpFile', 'NsgifFile', 'HeifFile'].map((loader) => `VipsForeignLoad${loader}`)

// Requests have priority.
setPriority(5)
sharp.cache(false)
sharp.concurrency(1)
// Other decoders, above all the one for SVG, must not read a client's file.
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
  const cropped = sharp(image).resize(THUMBNAIL, THUMBNAIL, { fit: 'cover' })
  await cropped.toFormat(format as 'jpeg', OUTPUT[format]).toFile(thumbnail)
} catch (error) {
  process.stdout.write((error as Error).message)
  process.exitCode = REFUSED
} finally {
  clearInterval(watch)
}

/** Reads the image's header only, so that nothing is decoded before. */
async function refuseTooManyPixels(): Promise<void> {
  const { width, height } = await sharp(source, { limitInputPixels: false, animated: format !== 'avif' }).metadata()
  if (width * height <= Number(maxPixels)) return
  const megapixels = (pixels: number) => `${Math.round(pixels / 100_000) / 10} megapixels`
  throw new Error(`has ${megapixels(width * height)}, more than ${megapixels(Number(maxPixels))}`)
}
