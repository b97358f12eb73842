import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const exclude = ['**/node_modules/**', '**/*.test.ts', '**/testing/**', 'libs/testing/**']
const sources = globSync('{libs,services,infra}/**/*.ts', { cwd: ROOT, exclude }).map((file) => ({
  file,
  text: readFileSync(join(ROOT, file), 'utf8'),
}))
const where = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file)

test.each([
  ['PostgreSQL', /^import (?!type )\S.* from '(postgres|pg|node-pg-migrate)'$/m, /^libs\/postgres\/src\//],
  ['Kafka', /^import (?!type )\S.* from 'kafkajs'$/m, /^libs\/messaging\/src\//],
  ['the schema registry', /^import (?!type )\S.* from '@confluentinc\//m, /^libs\/messaging\/src\//],
])('only one package opens connections to %s', (_server, pattern, folder) => {
  expect(where(pattern).filter((file) => !folder.test(file))).toEqual([])
  expect(where(pattern)).not.toEqual([])
})

test.each([
  ['postgres', /(?<![.\w])postgres\([^{)]*\{(?!\s*\.\.\.tlsTo\()/],
  ['openDatabase', /(?<!function )openDatabase\(\{(?![^}]*(\.\.\.(server|connection)\b|\bca\b))/],
  ['connectKafka', /(?<!function )connectKafka\(\{(?!\s*\.\.\.(servers|kafkaServers)\b)/],
])('each call of %s hands on how the server proves itself, and the login', (_function, pattern) => {
  expect(where(pattern)).toEqual([])
})
