#!/usr/bin/env node
// `npx backoffice`: plain JavaScript for Node 20. It runs the command with the Node that the packages bring.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NODE = join(ROOT, 'node_modules', '.bin', 'node')
if (!existsSync(NODE)) {
  console.error(`${NODE} is missing: run npm ci in ${ROOT}`)
  process.exit(1)
}
const child = spawn(NODE, [fileURLToPath(new URL('main.ts', import.meta.url)), ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { NODE_COMPILE_CACHE: join(ROOT, '.local', 'cache', 'node'), ...process.env },
})
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
// A terminal sends Ctrl-C to the child as well. A second signal at the child's end would make that a failure.
process.on('SIGINT', () => setTimeout(() => child.kill('SIGINT'), 1000))
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
