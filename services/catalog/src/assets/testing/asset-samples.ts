import { copyFile } from 'node:fs/promises'
import { crc32, deflateSync } from 'node:zlib'
import { aFile, form } from '@backoffice/testing/form.ts'
import sharp from 'sharp'
import type { runImageProcess } from '../image-work.ts'

/** A form with one file of this name and declared type. */
export const formOf = (content: Buffer | string, fileName = 'photo.bin', type = 'application/octet-stream'): Buffer =>
  form(aFile(content, { fileName, type }))

/** An image of noise, which no encoder makes small. */
export const noise = (width: number, height: number) =>
  sharp({
    create: { width, height, channels: 3, background: 'grey', noise: { type: 'gaussian', mean: 128, sigma: 40 } },
  })

/** Takes an image as it is. For tests about something else: each image process takes half a second of a processor. */
export const copyImage: typeof runImageProcess = async (_type, { source, image, thumbnail }) => {
  await Promise.all([copyFile(source, image), copyFile(source, thumbnail)])
  return undefined
}

/** An upright picture is red above and blue below; stored turned, its EXIF orientation says how to put it right. */
export const turnedPhoto = async (): Promise<Buffer> => {
  const half = (background: string) => ({ create: { width: 60, height: 40, channels: 3 as const, background } })
  const blue = await sharp(half('blue')).png().toBuffer()
  const upright = sharp({ create: { width: 60, height: 80, channels: 3, background: 'red' } })
  const pixels = await upright
    .composite([{ input: blue, top: 40, left: 0 }])
    .png()
    .toBuffer()
  return sharp(pixels)
    .rotate(270)
    .withExif({
      IFD0: { Copyright: 'someone', Make: 'SecretCam' },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '6/1 27/1 0/1' },
    })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
}

/** A chunk of a PNG. */
function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

/** A whole and valid PNG of 7 MB and few pixels, whose 900 comments have 7 GB. */
export function commentsPng(): Buffer {
  const picture = bombPng(8, 8)
  const afterHeader = picture.indexOf('IDAT') - 4
  const comment = chunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), deflateSync(Buffer.alloc(7_900_000, 'a'))]))
  const comments = Array<Buffer>(900).fill(comment)
  return Buffer.concat([picture.subarray(0, afterHeader), ...comments, picture.subarray(afterHeader)])
}

/** A whole and valid PNG of one colour, so small a file for so many pixels that decoding it is what hurts. */
export function bombPng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([1, 0], 8) // one bit a pixel, grey
  const rows = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

/** An archive of one empty file. */
export const ZIP = Buffer.from(
  '504b03040a0000000000000021000000000000000000000000000100000061504b01021e030a000000000000002100000000000000000000' +
    '00000001000000000000000000000000000000000061504b050600000000010001002f0000001f0000000000',
  'hex',
)

export const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
