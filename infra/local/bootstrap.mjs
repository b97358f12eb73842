// Every npm script runs this first. It is plain JavaScript for Node 20: it installs the packages, Node 24 among them,
// and runs the script with that Node.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NODE = join(ROOT, 'node_modules', '.bin', 'node')
const TYPES = 'libs/app-sdk/src/api-types.ts'
const VITE = 'node_modules/vite/bin/vite.js'
const ENTRIES = {
  start: ['infra/local/start.ts'],
  test: ['infra/check/test.ts', '--project=!faults', '--project=!browser', '--project=!neighbours'],
  'test:faults': ['infra/check/test.ts', '--project=faults', '--project=browser', '--project=neighbours'],
  check: ['infra/check/check.ts'],
  bench: ['bench/run.ts'],
}

const [command, ...args] = process.argv.slice(2)
const entry = ENTRIES[command]
if (!entry) {
  console.error(`usage: node infra/local/bootstrap.mjs ${Object.keys(ENTRIES).join('|')}`)
  process.exit(2)
}
if (!isInstalled()) install()
if (!areTypesCurrent()) spawnSync(NODE, ['libs/app-sdk/src/generate-api-types.ts'], { cwd: ROOT, stdio: 'inherit' })
if (!isConsoleCurrent())
  spawnSync(NODE, [VITE, 'build', '--logLevel', 'warn', 'console'], { cwd: ROOT, stdio: 'inherit' })
run(...entry)

/** npm writes its list at the end of an installation: it is complete when the list agrees with the lock file. */
function isInstalled() {
  const list = join(ROOT, 'node_modules', '.package-lock.json')
  if (!existsSync(list) || !existsSync(NODE)) return false
  const installed = JSON.parse(readFileSync(list, 'utf8')).packages
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages
  return Object.entries(wanted)
    .filter(([path, { optional, peer }]) => path.startsWith('node_modules/') && !optional && !peer)
    .every(([path, { version, link }]) => installed[path] && (link || installed[path].version === version))
}

/** npm makes the types of the API at the end of an installation; a pull may bring another document after it. */
function areTypesCurrent() {
  return madeAt(TYPES) >= Math.max(madeAt('docs/openapi.json'), madeAt('docs/openapi-admin.json'))
}

/** The console's pages are built again when a source of theirs is newer. */
function isConsoleCurrent() {
  const sources = readdirSync(join(ROOT, 'console'), { recursive: true }).filter(
    (file) => !/^(dist|node_modules)\b/.test(file),
  )
  const builtAt = madeAt('console/dist/index.html')
  return sources.every((file) => madeAt(join('console', file)) <= builtAt)
}

function madeAt(file) {
  return statSync(join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function install() {
  const startedAt = Date.now()
  console.log('installing the packages of package-lock.json (npm ci)')
  const npm = process.env.npm_execpath
  const [file, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
  const { status } = spawnSync(file, [...first, 'ci', '--loglevel=error'], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) {
    console.error('npm ci failed: the lines above say why; a network that reaches the npm registry is needed once')
    process.exit(status ?? 1)
  }
  console.log(`packages installed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
}

function run(file, ...first) {
  const child = spawn(NODE, [join(ROOT, file), ...first, ...args], {
    cwd: ROOT,
    // The channel closes when this process ends, even by kill -9, so the child notices.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      ...process.env,
      PATH: `${join(ROOT, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`,
      NODE_COMPILE_CACHE: join(ROOT, '.local', 'cache', 'node'),
      npm_config_loglevel: 'error',
      NO_UPDATE_NOTIFIER: '1',
      TURBO_TELEMETRY_DISABLED: '1',
      DO_NOT_TRACK: '1',
    },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  if (process.env.npm_lifecycle_event) stopWithParent(child)
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

/** npm ends at SIGTERM without a signal to its shell's child. This process notices by its new parent. */
function stopWithParent(child) {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    child.kill('SIGTERM')
  }, 500)
  watch.unref()
}
