import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { GENERATED } from './generate.ts'

const ROOT = join(import.meta.dirname, '../..')

it.each(Object.entries(GENERATED))(
  'the files in git are those that the code makes: else run `npm run generate:%s`',
  (_name, files) => {
    for (const [path, text] of files()) expect(readFileSync(join(ROOT, path), 'utf8') === text, path).toBe(true)
  },
)

it('every dashboard in git has its panels in code', () => {
  const committed = globSync('k8s/components/telemetry/dashboards/*', { cwd: ROOT })
  expect(committed.toSorted()).toEqual([...GENERATED.dashboards().keys()].toSorted())
})

it('the generated files are marked as generated', () => {
  const marked = readFileSync(join(ROOT, '.gitattributes'), 'utf8')
  const patterns = [...marked.matchAll(/^(\S+) linguist-generated$/gm)].map(([, pattern = '']) => pattern)
  const paths = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
  for (const files of Object.values(GENERATED)) expect(paths).toEqual(expect.arrayContaining([...files().keys()]))
})
