import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Where the build of the console's pages is. */
export const CONSOLE_FOLDER = new URL('../../../../console/dist/', import.meta.url)

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}
const brotli = promisify(brotliCompress)
const COMPRESSORS = {
  // The best quality takes ten times as long, while the first browser waits, and saves 7 % (measured).
  br: (content: Buffer) => brotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: promisify(gzip),
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>Console</title></head>
  <body><h1>The console is not built</h1><p>Run <code>npm run build -w @backoffice/console</code>, then start the gateway again.</p></body>
</html>
`

/** A file in memory, and its compressed forms once somebody has asked for them. */
function consoleFile(name: string, content: Buffer) {
  const compressed = new Map<string, Promise<Buffer>>()
  const type = TYPES[name.split('.').at(-1) ?? ''] ?? ''
  return {
    type,
    /** Weak: it is that of each encoding. */
    etag: `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
    content,
    /** The encoding, of those that a client accepts, in which the file is sent, and its bytes in it. */
    async in(encoding: string): Promise<readonly [encoding: string | undefined, bytes: Buffer]> {
      const compress = COMPRESSORS[encoding as keyof typeof COMPRESSORS]
      if (compress === undefined || /^image\/png|^font/.test(type)) return [undefined, content]
      const bytes = compressed.get(encoding) ?? compress(content)
      compressed.set(encoding, bytes)
      return [encoding, await bytes]
    },
  }
}
export type ConsoleFile = ReturnType<typeof consoleFile>

/**
 * Reads the console's files once: no path of a request reaches the file system. Without a build there is a page that
 * says how to make one.
 */
export function readConsoleFiles(folder: URL) {
  const assets = new URL('assets/', folder)
  const index = new URL('index.html', folder)
  const names = existsSync(assets) ? readdirSync(assets) : []
  const known = names.filter((name) => TYPES[name.split('.').at(-1) ?? ''] !== undefined)
  return {
    page: consoleFile('index.html', existsSync(index) ? readFileSync(index) : Buffer.from(NOT_BUILT)),
    assets: new Map(known.map((name) => [name, consoleFile(name, readFileSync(new URL(name, assets)))])),
  }
}
