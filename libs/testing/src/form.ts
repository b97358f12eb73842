const BOUNDARY = 'x-boundary-7d1c2c1e'

/** The content type of `form`. */
export const FORM = `multipart/form-data; boundary=${BOUNDARY}`

/** A part of a form. A part with a file name is a file. */
interface Part {
  readonly name: string
  readonly fileName?: string
  readonly type?: string
  readonly content: string | Buffer
}

/** The bytes of a form with these parts. */
export const form = (...parts: Part[]): Buffer =>
  Buffer.concat([...parts.map(bytesOf), Buffer.from(`--${BOUNDARY}--\r\n`)])

function bytesOf({ name, fileName, type, content }: Part): Buffer {
  const disposition = `form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}`
  const head = [`--${BOUNDARY}`, `Content-Disposition: ${disposition}`, ...(type ? [`Content-Type: ${type}`] : [])]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')])
}

/** A part that is a file. */
export const aFile = (content: string | Buffer, differences: Partial<Part> = {}): Part => ({
  name: 'file',
  fileName: 'notes.txt',
  type: 'text/plain',
  content,
  ...differences,
})
