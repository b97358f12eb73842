import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileInMemory } from '../public/proxy/file-in-memory.ts'

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
const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>Console</title></head>
  <body><h1>The console is not built</h1><p>Run <code>npm run build -w @backoffice/console</code>, then start the gateway again.</p></body>
</html>
`

const consoleFile = (name: string, content: Buffer) => fileInMemory(TYPES[name.split('.').at(-1) ?? ''] ?? '', content)

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
