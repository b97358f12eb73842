/** An image type that is accepted: how its files end, and how many pixels are worked on, all frames together (OP-90). */
interface ImageType {
  readonly extension: string
  readonly maxPixels: number
}

const MEGAPIXELS = 1_000_000

/** The images that are worked on, and the only files that are served inline. AVIF takes four times the memory of others. */
export const IMAGE_TYPES: Readonly<Record<string, ImageType>> = {
  'image/jpeg': { extension: 'jpg', maxPixels: 50 * MEGAPIXELS },
  'image/png': { extension: 'png', maxPixels: 50 * MEGAPIXELS },
  'image/webp': { extension: 'webp', maxPixels: 50 * MEGAPIXELS },
  'image/gif': { extension: 'gif', maxPixels: 50 * MEGAPIXELS },
  'image/avif': { extension: 'avif', maxPixels: 12.5 * MEGAPIXELS },
}

/** What a file is whose content is not known, or not to be shown by a browser whatever the circumstances. */
export const UNKNOWN_TYPE = 'application/octet-stream'
export const TEXT_TYPE = 'text/plain'

/** The other files that keep their type; they are stored as they are. */
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

/** How the stored file of a type ends, the type being one that `knownType` returns. */
export const extensionOf = (type: string): string => EXTENSIONS.get(type) ?? 'bin'

/** The type of a stored file by how it ends; undefined when no stored file ends so. */
export const typeOf = (extension: string): string | undefined => TYPES.get(extension)

/** The type itself where it is one of those above, else `application/octet-stream`. */
export const knownType = (type: string): string => (EXTENSIONS.has(type) ? type : UNKNOWN_TYPE)
