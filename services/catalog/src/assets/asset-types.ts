/** An accepted image type: the extension of its files, and the most pixels of an image, all frames together (OP-90). */
interface ImageType {
  readonly extension: string
  readonly maxPixels: number
}

const MEGAPIXELS = 1_000_000

/** The images that are normalized, and the only files served inline. AVIF takes four times the memory of others. */
export const IMAGE_TYPES: Readonly<Record<string, ImageType>> = {
  'image/jpeg': { extension: 'jpg', maxPixels: 50 * MEGAPIXELS },
  'image/png': { extension: 'png', maxPixels: 50 * MEGAPIXELS },
  'image/webp': { extension: 'webp', maxPixels: 50 * MEGAPIXELS },
  'image/gif': { extension: 'gif', maxPixels: 50 * MEGAPIXELS },
  'image/avif': { extension: 'avif', maxPixels: 12.5 * MEGAPIXELS },
}

/** The type of a file with unknown content, or with content that a browser must never show. */
export const UNKNOWN_TYPE = 'application/octet-stream'
export const TEXT_TYPE = 'text/plain'

/** The types of other files, by type; these files are stored unchanged. */
const FILE_TYPES: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'application/epub+zip': 'epub',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
  [TEXT_TYPE]: 'txt',
  [UNKNOWN_TYPE]: 'bin',
}

const EXTENSIONS = new Map([
  ...Object.entries(IMAGE_TYPES).map(([type, { extension }]) => [type, extension] as const),
  ...Object.entries(FILE_TYPES),
])
const TYPES = new Map([...EXTENSIONS].map(([type, extension]) => [extension, type]))

/** The extension of stored files of a type that `knownType` returns. */
export const extensionOf = (type: string): string => EXTENSIONS.get(type) ?? 'bin'

/** The type of a stored file by its extension; undefined for an extension that no stored file has. */
export const typeOf = (extension: string): string | undefined => TYPES.get(extension)

/** The type itself when it is listed above, else `application/octet-stream`. */
export const knownType = (type: string): string => (EXTENSIONS.has(type) ? type : UNKNOWN_TYPE)
