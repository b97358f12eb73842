import { isUtf8 } from 'node:buffer'
import { unprocessable } from '@backoffice/contracts/errors.ts'
import type { UploadedFile } from '@backoffice/http/upload.ts'
import { isImage, knownType, TEXT_TYPE, UNKNOWN_TYPE } from './asset-types.ts'

/** Bytes at the start of a file that are enough to detect its type. */
export const HEAD_BYTES = 4100

type Claim = Pick<UploadedFile, 'name' | 'declaredType'>

/**
 * The type of a file by its first bytes, never by its name (OP-90). Throws `unprocessable` for an image of a type that
 * is not accepted, and for a file that is named or declared an image and is none.
 */
export async function detectType(head: Buffer, claim: Claim): Promise<string> {
  const found = await findType(head)
  if (isImage(found)) return found
  if (found.startsWith('image/')) {
    throw unprocessable(['file'], `holds ${found}; images must be JPEG, PNG, WebP, GIF or AVIF`)
  }
  const claimed = imageClaim(claim)
  if (claimed !== undefined) throw unprocessable(['file'], `is ${claimed} but holds ${found}`)
  return knownType(found)
}

async function findType(head: Buffer): Promise<string> {
  // Loaded when first needed, to save an idle service the memory (decision 012).
  const { fileTypeFromBuffer } = await import('file-type')
  // A crafted file may make the library fail: its type is unknown.
  const type = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime
  // Only the first frame of an animated PNG is used.
  if (type === 'image/apng') return 'image/png'
  if (type !== undefined) return isMarkup(head) ? UNKNOWN_TYPE : type
  return isText(head) && !isMarkup(head) ? TEXT_TYPE : UNKNOWN_TYPE
}

/** Whether it may be HTML, XML or SVG, whose scripts a browser would run. */
const isMarkup = (head: Buffer): boolean => /^\ufeff?\s*</.test(head.toString('utf8'))

/** Whether it is UTF-8 without control characters; the last character may be incomplete. */
function isText(head: Buffer): boolean {
  const cut = [0, 1, 2, 3].find((bytes) => isUtf8(head.subarray(0, head.length - bytes)))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters distinguish other files from text.
  return cut !== undefined && !/[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(head.toString('latin1'))
}

const IMAGE_NAME = /\.(?:apng|avif|bmp|gif|heic|heif|ico|jfif|jpe?g|png|tiff?|webp)$/i

/** A client's claim that a file is an image, as `named a.png and declared image/png`. SVG counts as text. */
function imageClaim({ name, declaredType }: Claim): string | undefined {
  const claims = [
    IMAGE_NAME.test(name) && `named ${name}`,
    /^image\/(?!svg)/i.test(declaredType) && `declared ${declaredType}`,
  ].filter((claim) => claim !== false)
  return claims.length > 0 ? claims.join(' and ') : undefined
}
