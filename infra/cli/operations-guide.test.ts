import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from './run-cli.ts'

const ROOT = join(import.meta.dirname, '../..')
const guide = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8')
const unique = (found: Iterable<RegExpMatchArray>) => [...new Set([...found].map(([text]) => text))]

test.each(unique(guide.matchAll(/(?<=(?:-- |npx |`|^ *)backoffice )[a-z][a-z -]*[a-z]/gm)))(
  'docs/operations.md: backoffice %s is a command with these options',
  async (line) => {
    const [words, options] = [line.split(' --')[0] ?? '', [...line.matchAll(/--[a-z-]+/g)].map(([option]) => option)]
    let [output, errors] = ['', '']
    const code = await runCli([...words.split(' '), '--help'], {
      environment: {},
      print: (text) => (output += text),
      printError: (text) => (errors += text),
      readInput: async () => '',
    })
    expect([code, errors]).toEqual([0, ''])
    if (!words.startsWith('checks')) for (const option of options) expect(output).toContain(option)
  },
)

test.each(unique(guide.matchAll(/(?<=npm run )[\w:-]+(?: -w [\w/-]+)?/g)))(
  'docs/operations.md: npm run %s is a script',
  (line) => {
    const [script = '', folder = '.'] = line.split(' -w ')
    const { scripts } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
    expect(scripts).toHaveProperty([script])
  },
)

test('links of docs/operations.md lead to its headings', () => {
  const headings = [...guide.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text.toLowerCase().replaceAll(' ', '-'))
  const linked = [...guide.matchAll(/\]\(#([^)]*)\)/g)].map(([, anchor]) => anchor)
  expect(linked.filter((anchor) => !headings.includes(anchor ?? ''))).toEqual([])
})

test('docs/operations.md names files that are there', () => {
  const named = unique(guide.matchAll(/(?:infra|k8s|libs|services|tests)\/[\w./-]+\.(?:ts|yml|md)/g))
  expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})
