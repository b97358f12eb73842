import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SERVICE_NAMES, schemaOf } from '@backoffice/contracts/services.ts'
import { treeSize } from '@backoffice/docker/assemble.ts'
import { entriesIn } from '@backoffice/docker/entries-in.ts'
import { COMPILE_CACHE } from '@backoffice/docker/start-script.ts'
import { IMAGES, isService } from '@backoffice/docker/workspaces.ts'
import { MIGRATOR } from '@backoffice/postgres/provision.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { emptyDatabase } from '@backoffice/testing/database.ts'
import { passwordOf } from '@backoffice/testing/new-database.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { GUIDES, guideFile } from '../services/gateway/src/public/guides/guide-files.ts'
import { hadolintFile } from './testing/hadolint.ts'

const run = promisify(execFile)
const trees = mkdtempSync(join(tmpdir(), 'backoffice-images-'))
const treeOf = (image: string) => join(trees, image)

/** Runs what the Dockerfile runs. */
async function assemble(image: string, tree: string): Promise<void> {
  console.log((await run(process.execPath, ['infra/docker/assemble.ts', image, tree])).stdout.trim())
}

beforeAll(async () => {
  const make = async (image: string) => {
    await assemble(image, treeOf(image))
    if (isService(image)) await run(process.execPath, ['infra/docker/fill-compile-cache.ts', treeOf(image)])
  }
  for (let next = 0; next < IMAGES.length; next += 2) await Promise.all(IMAGES.slice(next, next + 2).map(make))
}, 600_000)
afterAll(() => rmSync(trees, { recursive: true }))

/** What is in a tree besides the compile cache: each path with its rights, time and contents. */
function described(tree: string): string[] {
  const entries = [...entriesIn(tree)].filter(({ path }) => !path.includes(COMPILE_CACHE))
  return entries.map((entry) => {
    const { mode, mtimeMs } = lstatSync(entry.path)
    const content = entry.isSymbolicLink() ? readlinkSync(entry.path) : entry.isFile() && hashOf(entry.path)
    return `${entry.path.slice(tree.length)} ${mode} ${mtimeMs} ${content}`
  })
}

const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')

it('no image has tests, development packages, or cloud packages of the registry’s client', () => {
  for (const image of IMAGES) {
    const packages = readdirSync(join(treeOf(image), 'node_modules'))
    expect(packages, image).not.toContain('vitest')
    expect(packages, image).not.toContain('typescript')
    expect(packages, image).not.toContain('@azure')
    expect(packages, image).not.toContain('@google-cloud')
    expect(existsSync(join(treeOf(image), 'libs/testing')), image).toBe(false)
    expect([...entriesIn(join(treeOf(image), 'libs'))].filter(({ name }) => name.endsWith('.test.ts'))).toEqual([])
  }
})

it('hadolint finds nothing to improve in the Dockerfile', async ({ skip }) => {
  const hadolint = await hadolintFile()
  if (hadolint === undefined) return skip('pip cannot install hadolint here')
  await run(hadolint, ['infra/docker/Dockerfile'])
})

it('the modules of the gateway have less than 60 MB', () => {
  expect(treeSize(treeOf('gateway')).modules).toBeLessThan(60e6)
})

it('the image of the gateway has the guides that it serves', () => {
  for (const file of GUIDES.map(guideFile)) expect(existsSync(join(treeOf('gateway'), file)), file).toBe(true)
})

it('an image is the same each time', async () => {
  const again = mkdtempSync(join(tmpdir(), 'backoffice-images-'))
  await assemble('apps', join(again, 'apps'))
  expect(described(join(again, 'apps')).toSorted()).toEqual(described(treeOf('apps')).toSorted())
  rmSync(again, { recursive: true })
})

it('from their images, the one-shot commands prepare PostgreSQL, Kafka and the registry, and operators have theirs', async () => {
  const { kafkaBrokers, registryUrl } = backingServices()
  const database = await emptyDatabase()
  const roles = [MIGRATOR, ...SERVICE_NAMES.map(schemaOf).flatMap((schema) => [schema, `${schema}_worker`])]
  const env = {
    PATH: process.env.PATH,
    ADMIN_DATABASE_URL: database.url,
    ROLE_PASSWORDS: JSON.stringify(Object.fromEntries(roles.map((role) => [role, passwordOf(role)]))),
    KAFKA_BROKERS: kafkaBrokers.join(','),
    KAFKA_PREFIX: `test-${randomUUID()}.`,
    KAFKA_PARTITIONS: '6',
    KAFKA_REPLICATION_FACTOR: '1',
    SCHEMA_REGISTRY_URL: registryUrl,
  }
  for (const job of ['provision', 'migrate', 'topics', 'schemas']) {
    const { stdout } = await run('node', [`infra/jobs/src/${job}.ts`], { cwd: treeOf('jobs'), env })
    expect(stdout, job).toContain('"msg":"done"')
  }
  // As the image does, whose PATH has the folder of its files; the process starts nowhere near them.
  const settings = { PATH: `${treeOf('operator')}:${process.env.PATH}` }
  const { stdout } = await run('backoffice', ['checks', '--help'], { cwd: tmpdir(), env: settings })
  expect(stdout).toContain('check-stock')
  await database.drop()
})

/** From products to collections, files, webhooks, imports, orders with customers, and apps with tokens. */
const FLOWS = ['walking-skeleton', 'assets', 'imports', 'example-app']

it('the end-to-end tests pass with the services of the images', async () => {
  const { postgresUrl, kafkaBrokers, registryUrl } = backingServices()
  // Without what tells vitest that it runs inside of vitest.
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|TINYPOOL|NODE_OPTIONS)/.test(name))
  const env = {
    ...Object.fromEntries(own),
    NO_COLOR: '1',
    SERVICES_DIRECTORY: trees,
    DATABASE_URL: postgresUrl,
    KAFKA_BROKERS: kafkaBrokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
  }
  const files = FLOWS.map((name) => `tests/${name}.test.ts`)
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project=end to end', '--maxWorkers=2', ...files]
  const { stdout } = await run(process.execPath, args, { env }).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`)
  })
  expect(stdout).toContain(`Test Files  ${FLOWS.length} passed`)
}, 600_000)
