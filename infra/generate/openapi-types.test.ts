import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { wholeDocument } from './openapi-document.ts'

/** The package is beside the TypeScript that it needs; this project's own is newer. */
const generator = join(
  dirname(
    createRequire(new URL('../../libs/app-sdk/package.json', import.meta.url)).resolve(
      'openapi-typescript/package.json',
    ),
  ),
  'bin/cli.js',
)

const TYPED = `
import type { components, operations, webhooks } from './openapi.d.ts'

type Json<Body> = Body extends { content: { 'application/json': infer Schema } } ? Schema : never
type Named = components['schemas']
type Unknown<Schemas> = { [Name in keyof Schemas]: unknown extends Schemas[Name] ? Name : never }[keyof Schemas]

export const unknown: [Unknown<Named>] extends [never] ? true : false = true
export const nameOf = (created: Json<operations['createProduct']['responses'][201]>): string => created.name
export const input: Json<NonNullable<operations['createProduct']['requestBody']>> = { name: 'Shirt', type: 'SIMPLE_PRODUCT' }

type Event = Json<webhooks[keyof webhooks]['post']['requestBody']>
export const subjectOf = (event: Event): string =>
  event.type === 'order.paid' ? event.data.order_number : event.type === 'product.updated' ? event.data.name : event.id
`

it('is enough for openapi-typescript: every named schema has a type, and an event is known by its type', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'backoffice-typescript-'))
  const file = (name: string) => join(folder.path, name)
  writeFileSync(file('openapi.json'), JSON.stringify(wholeDocument()))
  execFileSync(process.execPath, [generator, file('openapi.json'), '-o', file('openapi.d.ts')], { stdio: 'pipe' })
  writeFileSync(file('typed.ts'), TYPED)
  const flags = ['--ignoreConfig', '--noEmit', '--strict', '--allowImportingTsExtensions', '--target', 'esnext']
  const { status, stdout } = spawnSync('tsc', [...flags, file('typed.ts')], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, ''])
})
