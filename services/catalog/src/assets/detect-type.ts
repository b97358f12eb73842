import { isUtf8 } from 'node:buffer'
import { unprocessable } from '@backoffice/contracts/errors.ts'
import { IMAGE_TYPES, knownType, TEXT_TYPE, UNKNOWN_TYPE } from './asset-types.ts'

/** How much of a file's start tells its type, in bytes. */
export const HEAD_BYTES = 4100

/** What a client says of a file. */
interface Claim {
  readonly name: string
  readonly declaredType: string
}

/**
 * The type of a file by its first bytes, never by its name (OP-90). Throws `unprocessable` for an image of a type that is
 * not accepted, and for a file that is called an image and is none.
 */
export async function detectType(head: Buffer, claim: Claim): Promise<string> {
  const found = await findType(head)
  if (found in IMAGE_TYPES) return found
  if (found.startsWith('image/')) {
    throw unprocessable(`file: holds ${found}; images must be JPEG, PNG, WebP, GIF or AVIF`)
  }
  const claimed = imageClaim(claim)
  if (claimed !== undefined) throw unprocessable(`file: is ${claimed} but holds ${found}`)
  return knownType(found)
}

async function findType(head: Buffer): Promise<string> {
  // Loaded when needed: an idle service has no use for it.
  const { fileTypeFromBuffer } = await import('file-type')
  // It looks into the file, which may be made to break it: such a file is of no type that it knows.
  const type = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime
  // An animated PNG is read as its first frame.
  if (type === 'image/apng') return 'image/png'
  if (type !== undefined) return isMarkup(head) ? UNKNOWN_TYPE : type
  return isText(head) && !isMarkup(head) ? TEXT_TYPE : UNKNOWN_TYPE
}

/** HTML, XML and SVG alike: a browser that takes one of them for what it is would run its scripts. */
const isMarkup = (head: Buffer): boolean => /^\ufeff?\s*</.test(head.toString('utf8'))

/** UTF-8 without control characters; the last character may be cut. */
function isText(head: Buffer): boolean {
  const cut = [0, 1, 2, 3].find((bytes) => isUtf8(head.subarray(0, head.length - bytes)))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what tells text from the rest.
  return cut !== undefined && !/[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(head.toString('latin1'))
}

const IMAGE_NAME = /\.(?:apng|avif|bmp|gif|heic|heif|ico|jfif|jpe?g|png|tiff?|webp)$/i

/** How a client calls a file an image: `named a.png and declared image/png`. SVG is text to us, so none is claimed by it. */
function imageClaim({ name, declaredType }: Claim): string | undefined {
  const claims = [
    IMAGE_NAME.test(name) && `named ${name}`,
    /^image\/(?!svg)/i.test(declaredType) && `declared ${declaredType}`,
  ].filter((claim) => claim !== false)
  return claims.length > 0 ? claims.join(' and ') : undefined
}
