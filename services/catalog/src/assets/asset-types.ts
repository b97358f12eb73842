const MEGAPIXELS = 1_000_000

/**
 * The types of images, which are normalized and are the only files served inline, with the most pixels of an image, all
 * frames together (OP-90). AVIF takes four times the memory of others.
 */
export const MOST_PIXELS: Readonly<Record<string, number>> = {
  'image/jpeg': 50 * MEGAPIXELS,
  'image/png': 50 * MEGAPIXELS,
  'image/webp': 50 * MEGAPIXELS,
  'image/gif': 50 * MEGAPIXELS,
  'image/avif': 12.5 * MEGAPIXELS,
}

export const isImage = (type: string): boolean => type in MOST_PIXELS

/** The type of a file with unknown content, or with content that a browser must never show. */
export const UNKNOWN_TYPE = 'application/octet-stream'
export const TEXT_TYPE = 'text/plain'

/** The types of stored files, by their extensions. Files that are no images are stored unchanged. */
const TYPES = new Map([
  ['jpg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['avif', 'image/avif'],
  ['pdf', 'application/pdf'],
  ['zip', 'application/zip'],
  ['gz', 'application/gzip'],
  ['epub', 'application/epub+zip'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
  ['txt', TEXT_TYPE],
  ['bin', UNKNOWN_TYPE],
])
const EXTENSIONS = new Map([...TYPES].map(([extension, type]) => [type, extension]))

/** The extension of stored files of a type that `knownType` returns. */
export const extensionOf = (type: string): string => EXTENSIONS.get(type) ?? 'bin'

/** The type of a stored file by its extension; undefined for an extension that no stored file has. */
export const typeOf = (extension: string): string | undefined => TYPES.get(extension)

/** The type itself when it is listed above, else `application/octet-stream`. */
export const knownType = (type: string): string => (EXTENSIONS.has(type) ? type : UNKNOWN_TYPE)
