/** A body as bytes in memory of their own: cut out of Node's pool they would keep all 64 KiB while a job waits. */
export function bodyBytes(body: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(body))
  bytes.write(body)
  return bytes
}
